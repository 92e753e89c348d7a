"""slim's item handlers that decode bounding boxes and keypoints of `tf.train.Example`s.

An item handler combines stored features of an example to one tensor.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame_legacy.slim.tfexample_decoder.item_handlers import ItemHandler

_SIDES = ("ymin", "xmin", "ymax", "xmax")


class BoundingBox(ItemHandler):
    """Combines four features, one per side, to `[boxes, 4]`: ymin, xmin, ymax, xmax.

    Args:
      keys: keys of the four features, in that order; None: the names of the sides.
      prefix: prefix of each key.

    Raises:
      ValueError: another number of keys.
    """

    def __init__(self, keys: Sequence[str] | None = None, prefix: str = "") -> None:
        super().__init__(_full_keys("BoundingBox", keys, _SIDES, prefix))

    def tensors_to_item(self, keys_to_tensors: Mapping[str, Any]) -> Any:
        sides = [keys_to_tensors[key] for key in self.keys]
        values = [s.values if isinstance(s, tf.SparseTensor) else s for s in sides]
        return tf.transpose(tf.concat([tf.expand_dims(side, 0) for side in values], 0))


class _Sequence(ItemHandler):
    """Combines ragged features of a sequence to `[time, objects, keys]`."""

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
    """Combines four features of a sequence, one per side, to `[time, boxes, 4]`.

    Args:
      keys: keys of the four features; None: ymin, xmin, ymax, xmax.
      prefix: prefix of each key; None: no prefix.
      return_dense: whether to return a dense tensor; otherwise a sparse one.
      default_value: value of the missing boxes of frames with fewer boxes than others.

    Raises:
      ValueError: another number of keys.
    """

    _names = _SIDES


class KeypointsSequence(_Sequence):
    """Combines two features of a sequence, one per coordinate, to `[time, points, 2]`.

    Args:
      keys: keys of the two features; None: y, x.
      prefix, return_dense: see `BoundingBoxSequence`.
      default_value: value of the missing points of frames with fewer points than others.

    Raises:
      ValueError: another number of keys.
    """

    _names = ("y", "x")


class NumBoxesSequence(ItemHandler):
    """Counts the boxes of each frame of a sequence, `[time]` int64.

    Args:
      keys: keys of sparse features of a sequence, `[time, boxes]`; the first is counted.
      check_consistency: whether a run fails if other features have other numbers.

    Raises:
      ValueError: no keys.
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
        first, *further = [keys_to_tensors[key] for key in self.keys]
        num_boxes = _num_boxes(first)
        compared = further if self._check_consistency else []
        with tf.control_dependencies(
            [tf.assert_equal(num_boxes, _num_boxes(tensor)) for tensor in compared]
        ):
            return tf.identity(num_boxes)


def _full_keys(
    owner: str, keys: Sequence[str] | None, names: tuple[str, ...], prefix: str
) -> list[str]:
    if keys is not None and len(keys) != len(names):
        raise ValueError(f"{owner} expects {len(names)} keys but got {len(keys)}")
    return [prefix + key for key in keys or names]


def _as_column(sparse: Any) -> Any:
    """Reshapes `[time, objects]` to `[time, objects, 1]`."""
    return tf.sparse_reshape(sparse, tf.concat([tf.shape(sparse, out_type=tf.int64), [1]], 0))


def _num_boxes(tensor: Any) -> Any:
    if not isinstance(tensor, tf.SparseTensor):
        raise ValueError("tensor must be of type tf.SparseTensor.")
    numbers = tf.SparseTensor(tensor.indices, tensor.indices[:, 1] + 1, tensor.dense_shape)
    # One more column of zeros, for a sequence without any box.
    return tf.reduce_max(tf.pad(tf.sparse_tensor_to_dense(numbers), [[0, 0], [0, 1]]), axis=1)
