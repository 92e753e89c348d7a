"""Input functions of arrays, for scripts that use `tf.estimator.inputs`.

    input_fn = numpy_input_fn({"x": x}, y, batch_size=32, num_epochs=None, shuffle=True)

They use tf.data instead of queues. The arrays do not become part of the graph, nor of
the `.meta` file of every checkpoint: a data set copies them from this process when its
iterator is initialised.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tf_frame_legacy.estimator.array_input import ArrayInput

# Internal name of features that are an array and not a dictionary.
_DIRECT = "__direct_np_input__"
_NO_SHUFFLE = (
    "shuffle must be provided and explicitly set as boolean (it is recommended to set it as True "
    "for training); got {}"
)


def numpy_input_fn(
    x: Any,
    y: Any = None,
    batch_size: int = 128,
    num_epochs: int | None = 1,
    shuffle: bool | None = None,
    queue_capacity: int | None = 1000,
    num_threads: int = 1,
) -> ArrayInput:
    """Returns an input function of arrays.

    A batch may contain the end of one epoch and the beginning of the next; only the last
    batch may be smaller. Each epoch is shuffled separately, over all rows.

    Args:
      x: features: an array `[rows, ...]`, or name -> array.
      y: labels: an array `[rows, ...]`, or name -> array; default: no labels.
      batch_size: rows per batch.
      num_epochs: number of passes over the rows; None: no end.
      shuffle: whether to shuffle each epoch; required.
      queue_capacity, num_threads: parameters of the former queues; without effect.

    Returns:
      The input function, without arguments; it returns `(features, labels)`, or the
      features if there are no labels, in the structure of `x` and `y`.

    Raises:
      ValueError: `shuffle` is not a boolean. The input function raises ValueError for
        `x` or `y` without arrays, a name in both, or different lengths.
      TypeError: raised by the input function if `x` is neither an array nor a dictionary.
    """
    del queue_capacity, num_threads
    _check_shuffle(shuffle)

    def arrays() -> tuple[Any, Any]:
        features = _features(x)
        labels = _labels(y, features)
        _check_lengths(features, labels, y)
        return (
            features[_DIRECT] if isinstance(x, np.ndarray) else features,
            y if y is None or not isinstance(y, dict) else labels,
        )

    return ArrayInput(arrays, batch_size, num_epochs, bool(shuffle))


def pandas_input_fn(
    x: Any,
    y: Any = None,
    batch_size: int = 128,
    num_epochs: int | None = 1,
    shuffle: bool | None = None,
    queue_capacity: int | None = 1000,
    num_threads: int = 1,
    target_column: str = "target",
) -> ArrayInput:
    """Returns an input function of a `pandas.DataFrame`; needs pandas.

    Args:
      x: features, a `DataFrame`.
      y: labels, a `Series` or `DataFrame` with the index of `x`; default: no labels.
      batch_size, num_epochs, shuffle, queue_capacity, num_threads: see `numpy_input_fn`.
      target_column: a name for `y` that must not be a column of `x`.

    Returns:
      The input function; it returns column -> tensor, and the labels as a tensor (for a
      `Series`) or as column -> tensor.

    Raises:
      TypeError: pandas is not installed, or `target_column` is not a string.
      ValueError: `shuffle` is not a boolean, `x` has a column `target_column`, or the
        indexes differ.
    """
    del queue_capacity, num_threads
    if importlib.util.find_spec("pandas") is None:
        raise TypeError("pandas_input_fn should not be called without pandas installed")
    _check_shuffle(shuffle)
    if not isinstance(target_column, str):
        raise TypeError("target_column must be a string type")
    _check_target(x, y, target_column)
    features = _columns(x)
    labels = None if y is None else _columns(y) if hasattr(y, "columns") else np.array(y)
    return ArrayInput(lambda: (features, labels), batch_size, num_epochs, bool(shuffle))


def _check_shuffle(shuffle: Any) -> None:
    if not isinstance(shuffle, bool):
        raise ValueError(_NO_SHUFFLE.format(shuffle))


def _features(x: Any) -> dict[str, Any]:
    """Returns name -> array of the features, sorted by name."""
    if isinstance(x, dict):
        if not x:
            raise ValueError("x cannot be an empty dict")
        return dict(sorted(x.items(), key=lambda item: item[0]))
    if not isinstance(x, np.ndarray):
        raise TypeError(f"x must be a dict or array; got {type(x).__name__}")
    if not x.size:
        raise ValueError("x cannot be an empty array")
    return {_DIRECT: x}


def _labels(y: Any, features: Mapping[str, Any]) -> dict[str, Any]:
    """Returns name -> array of the labels, sorted by name; empty without labels."""
    if y is None:
        return {}
    if not isinstance(y, dict):
        return {"y": y}
    if not y:
        raise ValueError("y cannot be empty dict, use None instead.")
    twice = set(features) & set(y)
    if twice:
        raise ValueError(f"{len(twice)} duplicate keys are found in both x and y: {twice}")
    return dict(sorted(y.items(), key=lambda item: item[0]))


def _check_lengths(features: Mapping[str, Any], labels: Mapping[str, Any], y: Any) -> None:
    arrays = [*features.values(), *labels.values()]
    if len({array.shape[0] for array in arrays}) == 1:
        return
    shapes_of_y = _shapes(labels) if isinstance(y, dict) or y is None else y.shape
    raise ValueError(
        "Length of tensors in x and y is mismatched. All elements in x and y must have the same "
        f"length.\nShapes in x: {_shapes(features)}\nShapes in y: {shapes_of_y or None}\n"
    )


def _shapes(arrays: Mapping[str, Any]) -> dict[str, Sequence[int]]:
    return {name: array.shape for name, array in arrays.items()}


def _check_target(x: Any, y: Any, target_column: str) -> None:
    if y is None:
        return
    if target_column in x:
        raise ValueError(
            f"Cannot use name {target_column} for target column: DataFrame already has a column "
            f"with that name: {x.columns}"
        )
    if not np.array_equal(x.index, y.index):
        raise ValueError(
            f"Index for x and y are mismatched.\nIndex for x: {x.index}\nIndex for y: {y.index}\n"
        )


def _columns(frame: Any) -> dict[Any, Any]:
    """Returns column -> copy of the values, so that later changes of the frame have no effect."""
    return {column: np.array(frame[column]) for column in frame.columns}
