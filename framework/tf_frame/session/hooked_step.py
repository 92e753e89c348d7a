"""Runs a step together with the hooks that are due, by the protocol of `MonitoredSession`.

The fetches, feeds and options of the hooks are merged into one session call, as TensorFlow
merges them, so that hooks written for TensorFlow work unchanged.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from time import monotonic
from typing import Any, Protocol

import tensorflow.compat.v1 as tf

from tf_frame.errors import ConfigError
from tf_frame.hooks.base import Hook
from tf_frame.hooks.training_clock import mark_traced, training_clock
from tf_frame.plugin.fault import calling
from tf_frame.plugin.origin import find_owner
from tf_frame.profiling.run_metadata import without_collision
from tf_frame.profiling.step_times import StepTimes
from tf_frame.session.prepared import PreparedCalls
from tf_frame.session.schedule import Schedule
from tf_frame.types import Session


class Steps(Protocol):
    """The part of a training graph that runs a step; see `TrainGraph`.

    Attributes:
      train_op: runs a step; its value is the loss.
      global_step: the variable.
      step_after: the global step after `train_op`, to be fetched in the same run.
      scalars: tensors that hooks often fetch.
    """

    @property
    def train_op(self) -> Any: ...
    @property
    def global_step(self) -> Any: ...
    @property
    def step_after(self) -> Any: ...
    @property
    def scalars(self) -> Sequence[Any]: ...


class StepFetches:
    """The tensors that every step fetches, with or without hooks.

    All steps fetch the same tensors, because TensorFlow prepares the whole graph for each new
    set of fetches.

    Args:
      steps: the training graph.
      watching: the hooks that watch a tensor.

    Attributes:
      tensors: loss, global step, watched tensors, scalars; each once.
    """

    def __init__(self, steps: Steps, watching: Sequence[Hook]) -> None:
        watched = [hook.watched for hook in watching]
        tensors = [steps.train_op, steps.step_after, *watched, *steps.scalars]
        self.tensors = list({tensor.name: tensor for tensor in tensors}.values())
        names = [tensor.name for tensor in self.tensors]
        self._watching = [(hook, names.index(hook.watched.name)) for hook in watching]
        self._watched = sorted({position for _, position in self._watching})

    def not_finite(self, values: Sequence[Any]) -> dict[Hook, Any]:
        """Returns hook -> value for the watched tensors that are NaN or infinite.

        Args:
          values: of `tensors`, at least up to the last watched tensor.
        """
        # Called in every step: a plain loop is fastest for the usual case, finite values.
        for position in self._watched:
            if not math.isfinite(values[position]):
                break
        else:
            return {}
        watched = {hook: values[position] for hook, position in self._watching}
        return {hook: value for hook, value in watched.items() if not math.isfinite(value)}


class FeedConflictError(ConfigError, RuntimeError):
    """Two hooks feed the same tensor; `MonitoredSession` raises a `RuntimeError`."""


def run_hooked_step(
    prepared: PreparedCalls,
    schedule: Schedule,
    fetches: StepFetches,
    *,
    last: int,
    times: StepTimes,
) -> tuple[Sequence[Any], bool]:
    """Runs a step with every hook that wants it.

    Args:
      last: the global step before it.
      times: gets the time of each hook.

    Returns:
      The values of `fetches.tensors`, and whether a hook requested a stop.

    Raises:
      FeedConflictError: two hooks feed the same tensor.
    """
    context = tf.train.SessionRunContext(
        original_args=tf.train.SessionRunArgs(fetches.tensors[0]), session=prepared.session
    )
    wanting = schedule.wanting(last + 1)
    request = _Request(fetches.tensors)
    began = monotonic()
    for hook in wanting:
        if hook in schedule.at_every_step:
            request.add(hook, hook.before_run(context))
            request.needs_session_run = True  # The hook may look at the run metadata.
        else:
            request.add(hook, hook.before_step(context, last + 1))
        began = times.hook(hook, began, monotonic())
    request.run(prepared)
    values = request.results["step"]
    step, not_finite = int(values[1]), fetches.not_finite(values)
    began = times.session_call(began, monotonic())
    told = _tell_of_loss(schedule, context, request) if not_finite else []
    for hook in schedule.hooks:
        if hook in not_finite:
            hook.not_finite(context, not_finite[hook], step)
        if hook not in wanting or hook in told:
            continue
        if hook in schedule.at_every_step:
            hook.after_run(context, request.run_values(hook))
        # Where gradients are accumulated, a run need not be a step.
        elif step == last + 1 or hook.cadence.wants(step):
            hook.after_step(context, request.run_values(hook), step)
            hook.cadence.mark(step)
        if context.stop_requested:
            schedule.stopped_by = schedule.stopped_by or hook
        began = times.hook(hook, began, monotonic(), ends=True)
    times.step(training_clock())
    if times.on_step is not None:
        times.on_step(step, began)
    return values, context.stop_requested


def _tell_of_loss(schedule: Schedule, context: Any, request: _Request) -> list[Any]:
    """Calls `after_run` of the hooks of users for a step that may end training by an error.

    tf.estimator called them before the hook that checks the loss. TensorFlow's own hooks wait for
    the check: one of them saves checkpoints.

    Returns:
      The hooks.
    """
    hooks = [hook for hook in schedule.hooks if hook in schedule.at_every_step]
    hooks = [hook for hook in hooks if not type(hook).__module__.startswith("tensorflow.")]
    for hook in hooks:
        hook.after_run(context, request.run_values(hook))
    return hooks


class _Request:
    """The fetches, feeds and options of several hooks, merged as TensorFlow merges them.

    Args:
      step: the tensors of every step, under the key `step`.

    Attributes:
      needs_session_run: whether it takes `Session.run` instead of a prepared call.
      results: the values of all fetches.
    """

    def __init__(self, step: Sequence[Any]) -> None:
        self.needs_session_run = False
        self.results: Mapping[Any, Any] = {}
        self._fetches: dict[Any, Any] = {"step": step}
        self._feeds: dict[Any, Any] = {}
        self._options = tf.RunOptions()
        self._metadata = tf.RunMetadata()

    def add(self, hook: Any, args: Any) -> None:
        """Adds the `SessionRunArgs` of a hook, or None.

        Raises:
          FeedConflictError: another hook feeds the same tensor.
        """
        if args is None:
            return
        if args.fetches is not None:
            self._fetches[hook] = args.fetches
        if args.feed_dict:
            same = set(self._feeds) & set(args.feed_dict)
            if same:
                raise FeedConflictError(
                    f"Same tensor is fed by two hooks. Conflict(s): {list(same)}; leave one out"
                )
            self._feeds.update(args.feed_dict)
            self.needs_session_run = True
        if args.options:
            merge_options(self._options, args.options)
            if args.options.trace_level:
                mark_traced()
            self.needs_session_run = True

    def run(self, prepared: PreparedCalls) -> None:
        """Runs the fetches of all hooks once."""
        if not self.needs_session_run:
            self.results = prepared.run(self._fetches)
            return
        without_collision(self._options, prepared.session.sess_str)
        try:
            self.results = prepared.session.run(
                self._fetches,
                self._feeds or None,
                options=self._options,
                run_metadata=self._metadata,
            )
        except (TypeError, ValueError):
            self._raise_for_each_hook(prepared.session)
            raise

    def _raise_for_each_hook(self, session: Session) -> None:
        """Raises the error again for the hook with invalid fetches, so that the error names it."""
        for hook, fetches in self._fetches.items():
            with calling(find_owner(hook), "before_run"):
                session.make_callable(fetches)

    def run_values(self, hook: Any) -> Any:
        """Returns the `SessionRunValues` of a hook."""
        return tf.train.SessionRunValues(self.results.get(hook), self._options, self._metadata)


_LARGER: tuple[str, ...] = ("trace_level", "timeout_in_ms", "inter_op_thread_pool")
_EITHER: tuple[str, ...] = ("output_partition_graphs", "report_tensor_allocations_upon_oom")


def merge_options(options: Any, more: Any) -> None:
    """Merges the second `RunOptions` into the first, as `MonitoredSession` does."""
    for name in (*_LARGER, *_EITHER):  # max(a, b) of bools is `a or b`.
        setattr(options, name, max(getattr(options, name), getattr(more, name)))
    debug, more_debug = options.debug_options, more.debug_options
    debug.debug_tensor_watch_opts.extend(more_debug.debug_tensor_watch_opts)
    debug.reset_disk_byte_usage |= more_debug.reset_disk_byte_usage
