"""slim's item handlers for tensors, which convert parsed features of an example to an item.

A data set has a handler for each item, such as the label. Names and arguments are from tf_slim,
data/tfexample_decoder.py.
"""

from __future__ import annotations

import abc
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow.compat.v1 as tf


class ItemHandler(abc.ABC):
    """Converts some features of an example to one item.

    Args:
      keys: key of the feature, or a list of keys.
    """

    def __init__(self, keys: str | Sequence[str]) -> None:
        self._keys = keys if isinstance(keys, list | tuple) else [keys]

    @property
    def keys(self) -> Sequence[Any]:
        """The keys of the features that this handler reads."""
        return self._keys

    @abc.abstractmethod
    def tensors_to_item(self, keys_to_tensors: Mapping[str, Any]) -> Any:
        """Returns the item.

        Args:
          keys_to_tensors: each of `keys` -> the parsed tensor or sparse tensor.
        """


class ItemHandlerCallback(ItemHandler):
    """Converts features to the item by a function.

    Args:
      keys: keys of the features.
      func: maps a dictionary key -> tensor to the item.
    """

    def __init__(self, keys: str | Sequence[str], func: Callable[[Mapping[str, Any]], Any]) -> None:
        super().__init__(keys)
        self._func = func

    def tensors_to_item(self, keys_to_tensors: Mapping[str, Any]) -> Any:
        return self._func(keys_to_tensors)


class Tensor(ItemHandler):
    """Converts a feature to a dense tensor.

    Args:
      tensor_key: key of the feature.
      shape_keys: key of the feature with the shape, or a list of keys of the dimensions.
      shape: shape of the item. Without `shape` and `shape_keys`, the parsed shape.
      default_value: value of the missing elements of a sparse feature.

    Raises:
      ValueError: both `shape_keys` and `shape` are given.
    """

    def __init__(
        self,
        tensor_key: str,
        shape_keys: str | list[str] | None = None,
        shape: Any = None,
        default_value: Any = 0,
    ) -> None:
        if shape_keys and shape is not None:
            raise ValueError("Cannot specify both shape_keys and shape parameters.")
        if shape_keys and not isinstance(shape_keys, list):
            shape_keys = [shape_keys]
        self._tensor_key = tensor_key
        self._shape_keys: list[str] = list(shape_keys or [])
        self._shape = shape
        self._default_value = default_value
        super().__init__([tensor_key, *self._shape_keys])

    def tensors_to_item(self, keys_to_tensors: Mapping[str, Any]) -> Any:
        tensor = keys_to_tensors[self._tensor_key]
        shape = self._item_shape(keys_to_tensors)
        if isinstance(tensor, tf.SparseTensor):
            sparse = tensor if shape is None else tf.sparse_reshape(tensor, shape)
            return tf.sparse_tensor_to_dense(sparse, self._default_value)
        return tensor if shape is None else tf.reshape(tensor, shape)

    def _item_shape(self, keys_to_tensors: Mapping[str, Any]) -> Any:
        if not self._shape_keys:
            return self._shape
        return tf.reshape(
            tf.stack([_dense(keys_to_tensors[key]) for key in self._shape_keys]), [-1]
        )


class LookupTensor(Tensor):
    """Looks a feature up in a table, for instance class names to get class indices.

    Args:
      tensor_key: key of the feature.
      table: a `tf.lookup` table.
      shape_keys, shape, default_value: see `Tensor`.

    Raises:
      ValueError: both `shape_keys` and `shape` are given.
    """

    def __init__(
        self,
        tensor_key: str,
        table: Any,
        shape_keys: str | list[str] | None = None,
        shape: Any = None,
        default_value: Any = "",
    ) -> None:
        self._table = table
        super().__init__(tensor_key, shape_keys, shape, default_value)

    def tensors_to_item(self, keys_to_tensors: Mapping[str, Any]) -> Any:
        return self._table.lookup(super().tensors_to_item(keys_to_tensors))


class BackupHandler(ItemHandler):
    """Returns the item of one handler, or of another handler if the first item is empty.

    Args:
      handler: the first handler.
      backup: the other handler; its item has the same type.

    Raises:
      ValueError: an argument is not an `ItemHandler`.
    """

    def __init__(self, handler: ItemHandler, backup: ItemHandler) -> None:
        if not isinstance(handler, ItemHandler):
            raise ValueError(f"Primary handler is of type {type(handler)} instead of ItemHandler")
        if not isinstance(backup, ItemHandler):
            raise ValueError(f"Backup handler is of type {type(backup)} instead of ItemHandler")
        self._handler = handler
        self._backup = backup
        super().__init__([*handler.keys, *backup.keys])

    def tensors_to_item(self, keys_to_tensors: Mapping[str, Any]) -> Any:
        item = self._handler.tensors_to_item(keys_to_tensors)
        return tf.cond(
            tf.equal(tf.reduce_prod(tf.shape(item)), 0),
            lambda: self._backup.tensors_to_item(keys_to_tensors),
            lambda: item,
        )


class SparseTensor(ItemHandler):
    """Combines two features, indices and values, to a sparse tensor.

    Args:
      indices_key: key of the feature with the indices of the last dimension.
      values_key: key of the feature with the values.
      shape_key: key of the feature with the dense shape.
      shape: the dense shape, unless there is a `shape_key`. Default: the dense shape of
        the feature with the indices.
      densify: whether to return a dense tensor.
      default_value: value of the missing elements, if `densify`.
    """

    def __init__(
        self,
        indices_key: str | None = None,
        values_key: str | None = None,
        shape_key: str | None = None,
        shape: Any = None,
        densify: bool = False,
        default_value: Any = 0,
    ) -> None:
        self._indices_key = indices_key or "indices"
        self._values_key = values_key or "values"
        self._shape_key = shape_key
        self._shape = shape
        self._densify = densify
        self._default_value = default_value
        super().__init__([self._indices_key, self._values_key, *([shape_key] if shape_key else [])])

    def tensors_to_item(self, keys_to_tensors: Mapping[str, Any]) -> Any:
        of_indices = keys_to_tensors[self._indices_key]
        outer = of_indices.indices[:, :-1]
        last = tf.reshape(tf.cast(of_indices.values, tf.int64), [-1, 1])
        tensor = tf.SparseTensor(
            tf.concat([outer, last], 1),
            keys_to_tensors[self._values_key].values,
            self._item_shape(keys_to_tensors),
        )
        return tf.sparse_tensor_to_dense(tensor, self._default_value) if self._densify else tensor

    def _item_shape(self, keys_to_tensors: Mapping[str, Any]) -> Any:
        if self._shape_key:
            return _dense(keys_to_tensors[self._shape_key])
        if self._shape is not None:
            return self._shape
        return keys_to_tensors[self._indices_key].dense_shape


def _dense(tensor: Any) -> Any:
    return tf.sparse_tensor_to_dense(tensor) if isinstance(tensor, tf.SparseTensor) else tensor
