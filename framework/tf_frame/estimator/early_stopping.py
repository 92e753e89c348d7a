"""Early stopping with the names and arguments of tf.estimator.experimental.

    hook = stop_if_no_decrease_hook(estimator, "loss", max_steps_without_decrease=1000)
    train_and_evaluate(estimator, TrainSpec(input_fn, hooks=[hook]), eval_spec)

A hook ends training when a metric has reached a threshold or no longer improves; the conditions are
in `tf_frame.hooks.by_name.early_stopping`. In a cluster only the chief checks the condition. The
chief informs the workers by the variable `signal_early_stopping/STOP` of tf.estimator, on the
device of the global step. The variable is in no collection of variables to save or to initialise:
checkpoints do not hold it, and the signal of an earlier run does not stop a resumed run.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.estimator.estimator import Estimator
from tf_frame.hooks.base import Hook, Phase
from tf_frame.hooks.by_name import early_stopping as conditions
from tf_frame.hooks.by_name.early_stopping import EarlyStoppingHook
from tf_frame.hooks.cadence import Cadence

_LOG = logging.getLogger("tf_frame")
_COLLECTION = "tf_frame/early_stopping"


def make_early_stopping_hook(
    estimator: Any,
    should_stop_fn: Callable[[], bool],
    run_every_secs: float | None = 60,
    run_every_steps: int | None = None,
) -> Hook:
    """Returns a hook that ends training when a function returns true.

    Args:
      estimator: the `Estimator` to train.
      should_stop_fn: a function without arguments; true ends training. Only the chief calls it.
      run_every_secs: seconds between calls.
      run_every_steps: steps between calls; excludes `run_every_secs`, which then has to be None.

    Raises:
      TypeError: `estimator` is not an `Estimator`, or `should_stop_fn` not a function.
      ValueError: both or neither of seconds and steps are given.
    """
    if not callable(should_stop_fn):
        raise TypeError("`should_stop_fn` must be callable.")

    def verdict(_: Any) -> str:
        return "should_stop_fn returned true" if should_stop_fn() else ""

    return _for_task(
        estimator,
        lambda: EarlyStoppingHook(
            verdict, dict, run_every_secs=run_every_secs, run_every_steps=run_every_steps
        ),
    )


_DOC = """Returns a hook that ends training when a metric {}.

    Args:
      estimator: the `Estimator` to train.
      metric_name: name of the metric, such as `loss`.
      {}: the limit.
      eval_dir: folder with the event files of evaluations; default: `estimator.eval_dir()`.
      min_steps: evaluations of earlier steps do not count.
      run_every_secs, run_every_steps: see `make_early_stopping_hook`.
    """


def _stop_function(condition: Callable[..., EarlyStoppingHook], doc: str) -> Callable[..., Hook]:
    """Returns a function of tf.estimator that makes a hook for a condition on a metric.

    Args:
      condition: function of `tf_frame.hooks.by_name.early_stopping`; its second argument is the
        limit.
      doc: end of the first line of the docstring.
    """
    limit = list(inspect.signature(condition).parameters)[1]
    defaults = {"eval_dir": None, "min_steps": 0, "run_every_secs": 60, "run_every_steps": None}
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    required = [inspect.Parameter(key, kind) for key in ("estimator", "metric_name", limit)]
    optional = [inspect.Parameter(k, kind, default=value) for k, value in defaults.items()]
    signature = inspect.Signature([*required, *optional], return_annotation=Hook)

    def make_hook(*args: Any, **kwargs: Any) -> Hook:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        estimator, metric, value, eval_dir, *_ = bound.arguments.values()
        every = {key: bound.arguments[key] for key in defaults if key != "eval_dir"}
        return _for_task(
            estimator,
            lambda: condition(
                metric, value, estimator.eval_dir() if eval_dir is None else eval_dir, **every
            ),
        )

    make_hook.__name__ = make_hook.__qualname__ = f"{condition.__name__}_hook"
    make_hook.__signature__ = signature  # type: ignore[attr-defined]
    make_hook.__doc__ = _DOC.format(doc, limit)
    return make_hook


stop_if_higher_hook = _stop_function(conditions.stop_if_higher, "is above a threshold")
stop_if_lower_hook = _stop_function(conditions.stop_if_lower, "is below a threshold")
stop_if_no_increase_hook = _stop_function(
    conditions.stop_if_no_increase, "has not risen for some steps"
)
stop_if_no_decrease_hook = _stop_function(
    conditions.stop_if_no_decrease, "has not fallen for some steps"
)


def _for_task(estimator: Any, make: Callable[[], EarlyStoppingHook]) -> Hook:
    """Returns the hook for the role of this process in training."""
    if not isinstance(estimator, Estimator):
        raise TypeError(
            f"`estimator` must have type `tf.estimator.Estimator`. Got: {type(estimator)}"
        )
    hook = make()  # On workers as well, to check the arguments.
    if not estimator.config.is_chief:
        return FollowChiefHook()
    return TellWorkersHook(hook) if estimator.config.num_worker_replicas > 1 else hook


class TellWorkersHook(Hook):
    """Stops the chief by another hook, and sets the signal for the workers."""

    phase = Phase.STOP
    asked_between_steps = False

    def __init__(self, hook: EarlyStoppingHook) -> None:
        self._hook = hook
        super().__init__(hook.cadence)

    def begin(self) -> None:
        signal = _signal()
        self._set, self._unset = signal.assign(True).op, signal.assign(False).op

    def start(self, session: Any, step: int) -> None:
        self._hook.start(session, step)
        # The variable may still hold the signal of an earlier training.
        session.run(self._set if self.should_stop() else self._unset)

    def should_stop(self) -> bool:
        return self._hook.should_stop()

    def after_step(self, run_context: Any, run_values: Any, step: int) -> None:
        self._hook.after_step(run_context, run_values, step)
        if self._hook.reason:
            run_context.session.run(self._set)


class FollowChiefHook(Hook):
    """Stops a worker when the chief has set the signal."""

    phase = Phase.STOP

    def __init__(self) -> None:
        super().__init__(Cadence(every_steps=1))

    def begin(self) -> None:
        signal = _signal()
        # The variable has no value before the chief assigns one.
        with tf.device(signal.device):
            self._stop = tf.cond(
                signal.is_initialized(), signal.read_value, lambda: tf.constant(False)
            )

    def before_step(self, run_context: Any, step: int) -> Any:
        return tf.train.SessionRunArgs(self._stop)

    def after_step(self, run_context: Any, run_values: Any, step: int) -> None:
        if run_values.results:
            _LOG.info("Early stopping requested, suspending run.")
            run_context.request_stop()


def _signal() -> Any:
    """Returns the variable of the signal; raises a RuntimeError without a global step."""
    global_step = tf.train.get_global_step()
    if global_step is None:
        raise RuntimeError("early stopping in a cluster needs a global step in the graph")
    with (
        tf.device(global_step.device),
        tf.variable_scope("signal_early_stopping", reuse=tf.AUTO_REUSE),
    ):
        return tf.get_variable(
            "STOP",
            shape=[],
            dtype=tf.bool,
            initializer=tf.zeros_initializer(),
            trainable=False,
            collections=[_COLLECTION],
            use_resource=True,
        )
