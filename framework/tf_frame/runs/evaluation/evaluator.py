"""`Evaluator`: evaluates checkpoints in a single graph and session.

A new graph and session for each checkpoint, as in tf.estimator, takes 12 to 42 times as long
(docs/performance/evaluation.md).

    evaluator = Evaluator(model=model, source=source, config=config, eval_dir="runs/first/eval")
    for checkpoint in checkpoints_iterator("runs/first"):
        print(evaluator.evaluate(checkpoint).metrics)
    evaluator.close()
"""

from __future__ import annotations

import contextvars
import ctypes
import dataclasses
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeAlias

import tensorflow.compat.v1 as tf

from tf_frame.config.run_options import RunOptions
from tf_frame.deploy.session_config import inference_session_config
from tf_frame.errors import NoDataError
from tf_frame.graph.inference.eval_graph import EvalGraph, build_eval_graph
from tf_frame.hooks.base import Hook
from tf_frame.plugin.origin import empty_split_error
from tf_frame.runs.evaluation.results import write_evaluation
from tf_frame.runs.evaluation.session import EvalSession

_LOG = logging.getLogger("tf_frame")
_Stop: TypeAlias = Callable[[], bool]
_AfterStep: TypeAlias = Callable[[], None]
_END_OF_DATA = (tf.errors.OutOfRangeError, StopIteration)


@dataclasses.dataclass(frozen=True)
class Evaluated:
    """The result of an evaluation.

    Attributes:
      metrics: name -> value from TensorFlow: a NumPy scalar, an array, bytes (such as a
        serialised summary), or a structure of these.
      summary: serialised summaries of the first batch; None without any.
      global_step: global step of the checkpoint.
      steps: number of batches.
      stopped: whether the evaluation was stopped before the end of the data.
      files: name of a metric -> path of the file that holds it, if files were written.
      at_chance: metric that is not above chance -> value of chance, if somebody looked.
    """

    metrics: dict[str, Any]
    summary: bytes | None
    global_step: int
    steps: int = 0
    stopped: bool = False
    files: Mapping[str, str] = dataclasses.field(default_factory=dict)
    at_chance: Mapping[str, float] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(kw_only=True, eq=False)
class Evaluator:
    """Evaluates checkpoints; the first evaluation makes graph and session.

    Each evaluation restores the variables, resets the metrics and restarts the data. After a
    failed evaluation the next one makes a new graph.

    Args:
      model, source: the model and the input, constructed.
      config: batch size, seed, moving averages and quantisation.
      steps: largest number of batches; None for all data.
      session_config: a `ConfigProto` with fields that override `config`; default: with soft
        placement.
      summaries: compute the model's summaries of the first batch.
      eval_dir: folder of the event file with the results; None writes none.
      metric_prefix: prefix of the tags of metrics in the event file.
      report: takes lines of the model's hooks for the user.
    """

    model: Any
    source: Any
    config: RunOptions
    steps: int | None = None
    session_config: Any = None
    summaries: bool = True
    eval_dir: str | None = None
    metric_prefix: str = "metrics/"
    report: Callable[[str], None] = lambda line: None

    def __post_init__(self) -> None:
        self._session: EvalSession | None = None
        self._future_session: Future[EvalSession] | None = None
        self._warned = False

    def prepare(self) -> None:
        """Starts to build the graph in another thread, if model and input allow it.

        The thread also opens the session. The first evaluation uses both, or raises the error of
        the thread. Hooks that are given to `evaluate` cannot add operations any more.
        """
        # Neither need inherit from the class of its contract.
        plugins = (self.model, self.source)
        is_safe = all(getattr(plugin, "thread_safe_build", False) for plugin in plugins)
        if is_safe and self._session is None and self._future_session is None:
            executor = ThreadPoolExecutor(1, "evaluation graph")
            self._future_session = executor.submit(
                contextvars.copy_context().run, self._open_session
            )
            executor.shutdown(wait=False)

    def evaluate(
        self,
        checkpoint: str | None,
        *,
        hooks: Iterable[Any] = (),
        stop: _Stop = lambda: False,
        after_step: _AfterStep = lambda: None,
    ) -> Evaluated:
        """Evaluates a checkpoint, and writes the result to `eval_dir` if it is not stopped.

        Args:
          checkpoint: path prefix; None evaluates the initial values.
          hooks: session hooks, called for each batch before the hooks of the model. If the
            `begin` of a hook adds operations, the next evaluation needs a new graph.
          stop: called before each batch; true ends the evaluation with the metrics so far.
          after_step: called after each batch.

        Raises:
          CheckpointError: the checkpoint cannot be read, or belongs to another model; the
            evaluator remains usable.
          DataError: the data is empty (`NoDataError`), or never ends.
        """
        session = self._made_session()
        with session.graph.graph.as_default():
            session.choose(checkpoint)
            try:
                evaluated = self._evaluate(session, list(hooks), stop, after_step)
            except NoDataError:
                self.close()
                raise empty_split_error("evaluation split", self.source) from None
            except BaseException:  # Ctrl-C, too; raised again.
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
        if self.eval_dir is not None and not evaluated.stopped:
            write_evaluation(
                self.eval_dir,
                evaluated.metrics,
                evaluated.summary,
                evaluated.global_step,
                prefix=self.metric_prefix,
                checkpoint=checkpoint,
            )
        return evaluated

    def metric_names(self) -> list[str]:
        """Returns names of the metrics that are single numbers; makes the graph if needed."""
        session = self._made_session()
        return [name for name, value in session.graph.values.items() if _is_number(value)]

    def close(self) -> None:
        """Closes the session and drops the graph; the next evaluation makes a new pair."""
        future, self._future_session = self._future_session, None
        if future is not None and (error := future.exception()):
            _LOG.warning("the evaluation cannot be prepared: %s", error)
        if self._session is not None:
            self._session.close()
            self._session = None

    def _made_session(self) -> EvalSession:
        future, self._future_session = self._future_session, None
        if future is not None:
            self._session = future.result()
        self._session = self._session or self._new_session()
        return self._session

    def _open_session(self) -> EvalSession:
        session = self._new_session()
        session.open()
        return session

    def _new_session(self) -> EvalSession:
        graph = build_eval_graph(
            model=self.model,
            source=self.source,
            config=self.config,
            steps=self.steps,
            summaries=self.summaries,
        )
        for hook in graph.inference.output.hooks:
            if isinstance(hook, Hook):
                hook.report = self.report
        return EvalSession(graph, inference_session_config(self.config, self.session_config))

    def _evaluate(
        self, session: EvalSession, hooks: Sequence[Any], stop: _Stop, after_step: _AfterStep
    ) -> Evaluated:
        """Runs all batches, and reads the metrics after all hooks have ended."""
        graph = session.graph
        results = tf.train.FinalOpsHook((dict(graph.values), graph.global_step))
        all_hooks = [*hooks, *graph.inference.output.hooks, results]
        with tf.train.MonitoredSession(session, hooks=all_hooks) as monitored:
            evaluated = self._run_all(monitored, graph, stop, after_step)
        metrics, step = results.final_ops_values
        return dataclasses.replace(evaluated, metrics=metrics, global_step=int(step))

    def _run_all(
        self, session: Any, graph: EvalGraph, stop: _Stop, after_step: _AfterStep
    ) -> Evaluated:
        """Updates the metrics with every batch; returns the result without metrics."""
        summary, batches = None, 0
        # Steps are counted here, because one more run, which only reaches the end of the data,
        # would call the hooks and the updates that do not read the data.
        while not session.should_stop() and batches != self.steps:
            if stop():
                return Evaluated({}, summary, 0, steps=batches, stopped=True)
            # The second run, which may find the end of the data, needs no new graph.
            summarises = batches < 2 and graph.summary_op is not None
            try:
                fetched = session.run((graph.update_op, graph.summary_op if summarises else ()))
            except _END_OF_DATA:
                break
            summary = fetched[1] if summarises and batches == 0 else summary
            batches += 1
            after_step()
        if not batches:
            raise NoDataError("the evaluation split is empty; there was not one batch")
        return Evaluated({}, summary, 0, steps=batches)


def _is_number(value: Any) -> bool:
    """Returns whether the tensor of a metric is, or may be, a single number."""
    return value.shape.rank in (0, None) and value.dtype.base_dtype != tf.string


class EvaluatorCache:
    """Cache of evaluators, with graph and session, by the name of the evaluation."""

    def __init__(self) -> None:
        self._kept: dict[str | None, tuple[Any, Evaluator]] = {}

    def get(self, name: str | None, key: Any, make: Callable[[], Evaluator]) -> Evaluator:
        """Returns the evaluator of a name; replaces it if the key has changed."""
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
    """Makes the C library return freed memory to the system, within some milliseconds.

    glibc keeps freed memory in a heap for each thread, and TensorFlow has many threads: the
    memory of the process would seem to grow. Does nothing with other C libraries.
    """
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
