"""Evaluation of checkpoints, one after the other, in one graph.

evaluator = Evaluator(model=model, source=source, config=config, steps=None)
for checkpoint in checkpoints_iterator("runs/first"):
    print(evaluator.evaluate(checkpoint).metrics)
evaluator.close()
"""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.config.run_options import RunOptions
from tf_frame.errors import DataError
from tf_frame.estimator.evaluation.session import EvalSession
from tf_frame.estimator.evaluation.trim_memory import trim_memory
from tf_frame.graph.inference.eval_graph import EvalGraph, build_eval_graph

_LOG = logging.getLogger("tf_frame")
_AT_THE_END = (tf.errors.OutOfRangeError, StopIteration)


@dataclasses.dataclass(frozen=True)
class Evaluated:
    """What an evaluation came to.

    Attributes:
      metrics: name -> value as TensorFlow gives it: a NumPy scalar, an array, or
        bytes, which may be a serialised summary.
      summary: serialised summaries of the first batch; None without any.
      global_step: that of the checkpoint.
    """

    metrics: dict[str, Any]
    summary: bytes | None
    global_step: int


class Evaluator:
    """Evaluates checkpoints; graph and session are made once, at the first evaluation.

    An evaluation restores the variables, sets metrics back and begins the data
    anew, so that it does not matter what was evaluated before. After one that
    failed in its midst the next one begins with a new graph.

    Args:
      model, source: model and input, constructed.
      config: batch size, seed, moving averages and quantisation.
      steps: batches at most; None for all that the data has.
      session_config: the `ConfigProto`; default: with soft placement.
      summaries: whether those of the model are made, of the first batch.
    """

    def __init__(
        self,
        *,
        model: Any,
        source: Any,
        config: RunOptions,
        steps: int | None,
        session_config: Any = None,
        summaries: bool = True,
    ) -> None:
        self._model = model
        self._source = source
        self._config = config
        self._steps = steps
        self._session_config = session_config
        self._summaries = summaries
        self._session: EvalSession | None = None
        self._said = False

    def evaluate(
        self,
        checkpoint: str | None,
        *,
        hooks: Iterable[Any] = (),
        check: Callable[[], None] = lambda: None,
    ) -> Evaluated:
        """Evaluates a checkpoint.

        Args:
          checkpoint: path prefix; None evaluates the initial values.
          hooks: session hooks, called for each batch before those of the model. One
            whose `begin` adds operations costs the next evaluation a new graph.
          check: called before each batch; raises what is to end the evaluation.

        Raises:
          CheckpointError: it cannot be read, or belongs to another model. The
            next evaluation is none the worse for it.
          DataError: the data is empty, or never ends.
        """
        session = self._session = self._session or self._new_session()
        with session.graph.graph.as_default():
            session.aim(checkpoint)
            try:
                evaluated = _evaluated(session, list(hooks), check)
            except BaseException:
                self.close()
                raise
        if session.extended:
            self._say_extended()
            self.close()
        trim_memory()
        return evaluated

    def close(self) -> None:
        """Closes the session and drops the graph; another evaluation makes others."""
        if self._session is not None:
            self._session.close()
            self._session = None

    def _new_session(self) -> EvalSession:
        graph = build_eval_graph(
            model=self._model,
            source=self._source,
            config=self._config,
            steps=self._steps,
            summaries=self._summaries,
        )
        return EvalSession(graph, self._session_config)

    def _say_extended(self) -> None:
        if not self._said:
            _LOG.warning(
                "a hook of the evaluation adds operations in begin(), so that each evaluation "
                "builds its graph anew; to keep the graph, let the model make them"
            )
            self._said = True


def _evaluated(session: EvalSession, hooks: Sequence[Any], check: Callable[[], None]) -> Evaluated:
    """Runs all batches, and reads the metrics when the other hooks have ended."""
    graph = session.graph
    results = tf.train.FinalOpsHook((dict(graph.values), graph.global_step))
    every = [*hooks, *graph.inference.output.hooks, results]
    with tf.train.MonitoredSession(session, hooks=every) as monitored:
        summary = _run_all(monitored, graph, check)
    metrics, step = results.final_ops_values
    return Evaluated(metrics=metrics, summary=summary, global_step=int(step))


def _run_all(session: Any, graph: EvalGraph, check: Callable[[], None]) -> bytes | None:
    """Updates the metrics with every batch; returns the summaries of the first."""
    summary, batches = None, 0
    while not session.should_stop():
        check()
        first = batches == 0 and graph.summary_op is not None
        try:
            fetched = session.run((graph.update_op, graph.summary_op if first else ()))
        except _AT_THE_END:
            break
        summary = fetched[1] if first else summary
        batches += 1
    if not batches:
        raise DataError("the evaluation split is empty; there was not one batch")
    return summary
