"""`Evaluator`: evaluates one checkpoint after the other in a single graph and session.

Building both anew for each checkpoint, as tf.estimator did, takes 12 to 42 times as long
(docs/performance.md).

evaluator = Evaluator(model=model, source=source, config=config, eval_dir="runs/first/eval")
for checkpoint in checkpoints_iterator("runs/first"):
    print(evaluator.evaluate(checkpoint).metrics)
evaluator.close()
"""

from __future__ import annotations

import ctypes
import dataclasses
import logging
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.config.run_options import RunOptions
from tf_frame.errors import DataError
from tf_frame.estimator.evaluation.results import write_evaluation
from tf_frame.estimator.evaluation.session import EvalSession
from tf_frame.graph.inference.eval_graph import EvalGraph, build_eval_graph

_LOG = logging.getLogger("tf_frame")
_END_OF_DATA = (tf.errors.OutOfRangeError, StopIteration)


@dataclasses.dataclass(frozen=True)
class Evaluated:
    """The result of an evaluation.

    Attributes:
      metrics: name -> value as TensorFlow returns it: a NumPy scalar, an array, or
        bytes, which may be a serialised summary.
      summary: serialised summaries of the first batch; None without any.
      global_step: global step of the checkpoint.
    """

    metrics: dict[str, Any]
    summary: bytes | None
    global_step: int


@dataclasses.dataclass(kw_only=True, eq=False)
class Evaluator:
    """Evaluates checkpoints; the first evaluation makes graph and session.

    An evaluation restores the variables, resets the metrics and restarts the data, so
    earlier evaluations do not matter. After an evaluation that failed halfway, the
    next one makes a new graph.

    Args:
      model, source: the model and the input, constructed.
      config: batch size, seed, moving averages and quantisation.
      steps: largest number of batches; None for all data.
      session_config: the `ConfigProto`; default: with soft placement.
      summaries: compute the model's summaries of the first batch.
      eval_dir: folder of the event file with the results; None writes none.
      metric_prefix: prefix of the tags of metrics in the event file.
    """

    model: Any
    source: Any
    config: RunOptions
    steps: int | None = None
    session_config: Any = None
    summaries: bool = True
    eval_dir: str | None = None
    metric_prefix: str = "metrics/"

    def __post_init__(self) -> None:
        self._session: EvalSession | None = None
        self._warned = False

    def evaluate(
        self,
        checkpoint: str | None,
        *,
        hooks: Iterable[Any] = (),
        check: Callable[[], None] = lambda: None,
    ) -> Evaluated:
        """Evaluates a checkpoint and writes the result to `eval_dir`.

        Args:
          checkpoint: path prefix; None evaluates the initial values.
          hooks: session hooks, called for each batch before those of the model. If the
            `begin` of a hook adds operations, the next evaluation needs a new graph.
          check: called before each batch; an exception ends the evaluation.

        Raises:
          CheckpointError: the checkpoint cannot be read, or belongs to another
            model; the evaluator remains usable.
          DataError: the data is empty, or never ends.
        """
        session = self._session = self._session or self._new_session()
        with session.graph.graph.as_default():
            session.choose(checkpoint)
            try:
                evaluated = _evaluated(session, list(hooks), check)
            except BaseException:
                self.close()
                raise
        if session.extended:
            if not self._warned:
                _LOG.warning(
                    "a hook of the evaluation adds operations in begin(), so each evaluation "
                    "needs a new graph; to keep the graph, let the model make the operations"
                )
                self._warned = True
            self.close()
        trim_memory()
        if self.eval_dir is not None:
            write_evaluation(
                self.eval_dir,
                evaluated.metrics,
                evaluated.summary,
                evaluated.global_step,
                prefix=self.metric_prefix,
                checkpoint=checkpoint,
            )
        return evaluated

    def close(self) -> None:
        """Closes the session and drops the graph; the next evaluation makes new ones."""
        if self._session is not None:
            self._session.close()
            self._session = None

    def _new_session(self) -> EvalSession:
        graph = build_eval_graph(
            model=self.model,
            source=self.source,
            config=self.config,
            steps=self.steps,
            summaries=self.summaries,
        )
        return EvalSession(graph, self.session_config)


def _evaluated(session: EvalSession, hooks: Sequence[Any], check: Callable[[], None]) -> Evaluated:
    """Runs all batches, and reads the metrics after the other hooks have ended."""
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
        except _END_OF_DATA:
            break
        summary = fetched[1] if first else summary
        batches += 1
    if not batches:
        raise DataError("the evaluation split is empty; there was not one batch")
    return summary


class EvaluatorCache:
    """Keeps one evaluator, with graph and session, for each name of an evaluation."""

    def __init__(self) -> None:
        self._kept: dict[str | None, tuple[Any, Evaluator]] = {}

    def get(self, name: str | None, key: Any, make: Callable[[], Evaluator]) -> Evaluator:
        """Returns the evaluator of a name; another key closes it and makes a new one."""
        if name in self._kept and self._kept[name][0] != key:
            self._kept.pop(name)[1].close()
        if name not in self._kept:
            self._kept[name] = (key, make())
        return self._kept[name][1]

    def close(self) -> None:
        """Closes all evaluators."""
        while self._kept:
            self._kept.popitem()[1][1].close()


def trim_memory() -> None:
    """Makes the C library return freed memory to the system.

    glibc keeps freed memory in a heap for each thread, and TensorFlow has many threads:
    without this, evaluations seem to need more and more memory. It takes some
    milliseconds. With other C libraries, nothing happens.
    """
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
