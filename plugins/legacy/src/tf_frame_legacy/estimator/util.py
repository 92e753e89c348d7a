"""Steps of checkpoints, and results of input functions: private parts of tensorflow_estimator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow.compat.v1 as tf


def saved_global_step(checkpoint_dir: str) -> Any:
    """Returns the global step of the newest checkpoint in a folder; 0 without one."""
    path = tf.train.latest_checkpoint(checkpoint_dir)
    reader = tf.train.load_checkpoint(path) if path else None
    if reader is None or not reader.has_tensor(tf.GraphKeys.GLOBAL_STEP):
        return 0
    return reader.get_tensor(tf.GraphKeys.GLOBAL_STEP)


class MultiHostDatasetInitializerHook(tf.train.SessionRunHook):  # type: ignore[misc]
    """Runs the initialisers of iterators once the session exists."""

    def __init__(self, dataset_initializers: Sequence[Any]) -> None:
        self._initializers = dataset_initializers

    def after_create_session(self, session: Any, coord: Any) -> None:
        session.run(self._initializers)


class DatasetInitializerHook(tf.train.SessionRunHook):  # type: ignore[misc]
    """Runs the initialiser of an iterator once the session exists (until TensorFlow 1.12)."""

    def __init__(self, iterator: Any) -> None:
        self._iterator = iterator

    def begin(self) -> None:
        self._initializer = self._iterator.initializer

    def after_create_session(self, session: Any, coord: Any) -> None:
        session.run(self._initializer)


def parse_input_fn_result(result: Any) -> tuple[Any, Any, list[Any]]:
    """Returns features, labels and hooks of the result of an input function.

    Args:
      result: a `tf.data.Dataset`, or tensors: `(features, labels)` or features alone.

    Raises:
      ValueError: the result has more than two parts.
    """
    hooks = []
    if isinstance(result, tf.compat.v2.data.Dataset):
        iterator = tf.data.make_initializable_iterator(result)
        hooks.append(MultiHostDatasetInitializerHook([iterator.initializer]))
        result = iterator.get_next()
    return *parse_iterator_result(result), hooks


def parse_iterator_result(result: Any) -> tuple[Any, Any]:
    """Returns features and labels; see `parse_input_fn_result`."""
    if not isinstance(result, (list, tuple)):
        return result, None
    if len(result) != 2:
        raise ValueError("input_fn should return (features, labels) as a len 2 tuple.")
    return result[0], result[1]
