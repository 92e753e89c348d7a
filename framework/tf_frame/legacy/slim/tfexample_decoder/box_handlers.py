"""What puts the sides of boxes and the coordinates of points together: slim's handlers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.legacy.slim.tfexample_decoder.item_handlers import ItemHandler

_SIDES = ("ymin", "xmin", "ymax", "xmax")


class BoundingBox(ItemHandler):
    """Four features, a side each, as `[boxes, 4]`: ymin, xmin, ymax, xmax.

    Args:
      keys: keys of the four features, in that order; None: the names of the sides.
      prefix: what stands before each key.

    Raises:
      ValueError: there are not four keys.
    """

    def __init__(self, keys: Sequence[str] | None = None, prefix: str = "") -> None:
        super().__init__(_full_keys("BoundingBox", keys, _SIDES, prefix))

    def tensors_to_item(self, keys_to_tensors: Mapping[str, Any]) -> Any:
        sides = [keys_to_tensors[key] for key in self.keys]
        values = [s.values if isinstance(s, tf.SparseTensor) else s for s in sides]
        return tf.transpose(tf.concat([tf.expand_dims(side, 0) for side in values], 0))


class _Sequence(ItemHandler):
    """Features of a sequence, ragged, side by side: `[time, things, keys]`."""

    _names: tuple[str, ...]

    def __init__(
        self,
        keys: Sequence[str] | None = None,
        prefix: str | None = None,
        return_dense: bool = True,
        default_value: float = -1.0,
    ) -> None:
        super().__init__(_full_keys(type(self).__name__, keys, self._names, prefix or ""))
        self._return_dense = return_dense
        self._default_value = default_value

    def tensors_to_item(self, keys_to_tensors: Mapping[str, Any]) -> Any:
        columns = [_as_column(keys_to_tensors[key]) for key in self.keys]
        joined = tf.sparse_concat(2, columns)
        if not self._return_dense:
            return joined
        return tf.sparse_tensor_to_dense(joined, default_value=self._default_value)


class BoundingBoxSequence(_Sequence):
    """Four features of a sequence, a side each, as `[time, boxes, 4]`.

    Args:
      keys: keys of the four features; None: ymin, xmin, ymax, xmax.
      prefix: what stands before each key; None: nothing.
      return_dense: whether the result is dense, or a sparse tensor.
      default_value: what stands for boxes that a frame has less than the fullest one.

    Raises:
      ValueError: there are not four keys.
    """

    _names = _SIDES


class KeypointsSequence(_Sequence):
    """Two features of a sequence, a coordinate each, as `[time, points, 2]`.

    Args:
      keys: keys of the two features; None: y, x.
      prefix: what stands before each key; None: nothing.
      return_dense: whether the result is dense, or a sparse tensor.
      default_value: what stands for points that a frame has less than the fullest one.

    Raises:
      ValueError: there are not two keys.
    """

    _names = ("y", "x")


class NumBoxesSequence(ItemHandler):
    """How many boxes each frame of a sequence has, `[time]` int64.

    Args:
      keys: keys of features of a sequence, `[time, boxes]`, sparse; the first is counted.
      check_consistency: whether a run fails where the others have other numbers.

    Raises:
      ValueError: there are no keys.
    """

    def __init__(
        self, keys: str | Sequence[str] | None = None, check_consistency: bool = True
    ) -> None:
        if not keys:
            raise ValueError("keys must not be empty.")
        super().__init__(keys)
        self._check_consistency = check_consistency

    def tensors_to_item(self, keys_to_tensors: Mapping[str, Any]) -> Any:
        """Returns the numbers of boxes.

        Raises:
          ValueError: a feature is not sparse.
        """
        first, *others = [keys_to_tensors[key] for key in self.keys]
        num_boxes = _num_boxes(first)
        compared = others if self._check_consistency else []
        with tf.control_dependencies(
            [tf.assert_equal(num_boxes, _num_boxes(other)) for other in compared]
        ):
            return tf.identity(num_boxes)


def _full_keys(
    owner: str, keys: Sequence[str] | None, names: tuple[str, ...], prefix: str
) -> list[str]:
    if keys is not None and len(keys) != len(names):
        raise ValueError(f"{owner} expects {len(names)} keys but got {len(keys)}")
    return [prefix + key for key in keys or names]


def _as_column(sparse: Any) -> Any:
    """`[time, things]` as `[time, things, 1]`."""
    return tf.sparse_reshape(sparse, tf.concat([tf.shape(sparse, out_type=tf.int64), [1]], 0))


def _num_boxes(tensor: Any) -> Any:
    if not isinstance(tensor, tf.SparseTensor):
        raise ValueError("tensor must be of type tf.SparseTensor.")
    numbers = tf.SparseTensor(tensor.indices, tensor.indices[:, 1] + 1, tensor.dense_shape)
    # A column of zeros more, for a sequence that has no box in any frame.
    return tf.reduce_max(tf.pad(tf.sparse_tensor_to_dense(numbers), [[0, 0], [0, 1]]), axis=1)
