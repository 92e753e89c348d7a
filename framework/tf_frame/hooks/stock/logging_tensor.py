"""`LoggingTensorHook` of TensorFlow, also for `--hook logging_tensor`."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

from tf_frame.hooks.base import Hook, Phase
from tf_frame.hooks.cadence import Cadence
from tf_frame.types import Session


class LoggingTensorHook(Hook):
    """Logs the values of tensors, by `tf.compat.v1.logging.info`.

    It logs the first step of a session, then every N steps or seconds, and on request the end.
    Arguments, errors and lines follow `tf.compat.v1.train.LoggingTensorHook`.

    Args:
      tensors: tag -> tensor or its name; or an iterable of tensors or names, which are also
        the tags.
      every_n_iter: steps between lines.
      every_n_secs: seconds between lines; give one of the two, or `at_end` alone.
      at_end: whether to log at the end too, with an extra session call.
      formatter: makes the line from a mapping tag -> value.

    Raises:
      ValueError: both or none of steps and seconds; a number that is not positive.
    """

    phase = Phase.LOG
    option = "--hook logging_tensor"
    counts_runs = True

    def __init__(
        self,
        tensors: Mapping[str, Any] | Iterable[Any],
        every_n_iter: int | None = None,
        every_n_secs: float | None = None,
        at_end: bool = False,
        formatter: Callable[[dict[Any, Any]], str] | None = None,
    ) -> None:
        only_at_end = at_end and every_n_iter is None and every_n_secs is None
        if not only_at_end and (every_n_iter is None) == (every_n_secs is None):
            raise ValueError(
                "either at_end and/or exactly one of every_n_iter and every_n_secs "
                "must be provided."
            )
        if every_n_iter is not None and every_n_iter <= 0:
            raise ValueError(f"invalid every_n_iter={every_n_iter}.")
        super().__init__(Cadence(every_steps=every_n_iter, every_secs=every_n_secs))
        # Lists instead of a mapping: outside of a graph a tensor cannot be a key.
        if isinstance(tensors, Mapping):
            self._tags: list[Any] = sorted(tensors)
            self._elements = [tensors[tag] for tag in self._tags]
        else:
            self._tags = self._elements = list(tensors)
        self._at_end = at_end
        self._formatter = formatter

    def begin(self) -> None:
        self._tensors = [graph_element(element) for element in self._elements]
        self._last_time: float | None = None

    def before_step(self, run_context: Any, step: int) -> Any:
        return tf.train.SessionRunArgs(self._tensors)

    def after_step(self, run_context: Any, run_values: Any, step: int) -> None:
        self._log(run_values.results)

    def end(self, session: Session) -> None:
        if self._at_end:
            self._log(session.run(self._tensors))

    def _log(self, values: Iterable[Any]) -> None:
        before, self._last_time = self._last_time, time.monotonic()
        with np.printoptions(suppress=True):
            if self._formatter is not None:
                tf.logging.info(self._formatter(dict(zip(self._tags, values, strict=True))))
                return
            pairs = zip(self._tags, values, strict=True)
            line = ", ".join(f"{tag} = {value}" for tag, value in pairs)
        if before is not None:
            tf.logging.info("%s (%.3f sec)", line, self._last_time - before)
        else:
            tf.logging.info("%s", line)


def graph_element(element: Any) -> Any:
    """Returns the tensor with a name in the default graph; anything else unchanged.

    Args:
      element: `name`, `name:0`, or an object that a session can fetch.

    Raises:
      ValueError: an object of another graph, or the name of an operation with
        several outputs.
      KeyError: the graph has no tensor of this name.
    """
    graph = tf.get_default_graph()
    if not isinstance(element, str):
        if getattr(element, "graph", None) is not graph:
            raise ValueError(
                f"Passed {element} should have graph attribute that is equal "
                f"to current graph {graph}."
            )
        return element
    if ":" in element:
        return graph.as_graph_element(element)
    tensor = graph.as_graph_element(f"{element}:0")
    if len(tensor.op.outputs) > 1:
        raise ValueError(
            f"Name {element} is ambiguous, as this `Operation` has multiple outputs (at least 2)."
        )
    return tensor
