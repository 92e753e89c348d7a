"""Results of input functions, of `tensorflow_estimator.python.estimator.util`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow.compat.v1 as tf


class MultiHostDatasetInitializerHook(tf.train.SessionRunHook):  # type: ignore[misc]
    """Runs the initialisers of iterators once the session exists."""

    def __init__(self, dataset_initializers: Sequence[Any]) -> None:
        self._initializers = dataset_initializers

    def after_create_session(self, session: Any, coord: Any) -> None:
        session.run(self._initializers)


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
