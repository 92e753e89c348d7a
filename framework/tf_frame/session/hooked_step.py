"""One step with hooks: the protocol of `MonitoredSession`, for the hooks that want the step."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import tensorflow.compat.v1 as tf

from tf_frame.errors import ConfigError
from tf_frame.hooks.base import Hook
from tf_frame.hooks.training_clock import mark_traced
from tf_frame.session.prepared import PreparedCalls
from tf_frame.session.schedule import Schedule, has_cadence


class Steps(Protocol):
    """The part of a training graph that runs a step; see `TrainGraph`.

    Attributes:
      train_op: runs a step; its value is the loss.
      global_step: the variable.
      step_after: the global step after `train_op`, to be fetched beside it.
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
    """The tensors that every step fetches, with hooks or without.

    They are the same for all steps, since each new set of fetches costs TensorFlow
    another preparation of the whole graph.

    Args:
      steps: the training graph.
      watching: the hooks that watch a tensor.

    Attributes:
      tensors: loss, global step, watched tensors, scalars; each once.
    """

    def __init__(self, steps: Steps, watching: Sequence[Hook]) -> None:
        watched = [hook.watched for hook in watching]
        every = [steps.train_op, steps.step_after, *watched, *steps.scalars]
        self.tensors = list({tensor.name: tensor for tensor in every}.values())
        position = {tensor.name: number for number, tensor in enumerate(self.tensors)}
        self._watching = [(hook, position[hook.watched.name]) for hook in watching]
        self._watched = sorted({number for _, number in self._watching})

    def not_finite(self, values: Sequence[Any]) -> dict[Hook, Any]:
        """The hooks whose watched tensor is NaN or infinite, each with its value.

        Args:
          values: of `tensors`, or of the first ones up to the last that is watched.
        """
        for number in self._watched:
            if not math.isfinite(values[number]):
                break
        else:
            return {}
        every = {hook: values[number] for hook, number in self._watching}
        return {hook: value for hook, value in every.items() if not math.isfinite(value)}


class FeedConflictError(ConfigError, RuntimeError):
    """Two hooks feed the same tensor; `MonitoredSession` raises a `RuntimeError`."""


class _Request:
    """The fetches, feeds and options of several hooks, merged as TensorFlow merges them.

    Attributes:
      needs_session_run: whether a prepared call would not do.
    """

    def __init__(self, fetches: Mapping[Any, Any]) -> None:
        self.fetches = dict(fetches)
        self.feeds: dict[Any, Any] = {}
        self.options = tf.RunOptions()
        self.needs_session_run = False

    def add(self, hook: Any, args: Any) -> None:
        """Adds the `SessionRunArgs` of a hook.

        Raises:
          FeedConflictError: another hook feeds the same tensor.
        """
        if args.fetches is not None:
            self.fetches[hook] = args.fetches
        if args.feed_dict:
            same = set(self.feeds) & set(args.feed_dict)
            if same:
                raise FeedConflictError(
                    f"Same tensor is fed by two hooks. Conflict(s): {list(same)}; leave one out"
                )
            self.feeds.update(args.feed_dict)
            self.needs_session_run = True
        if args.options:
            merge_options(self.options, args.options)
            if args.options.trace_level:
                mark_traced()
            self.needs_session_run = True

    def run(self, prepared: PreparedCalls) -> tuple[Any, Any]:
        """Runs the fetches; returns their values and the `RunMetadata`."""
        metadata = tf.RunMetadata()
        if not self.needs_session_run:
            return prepared.run(self.fetches), metadata
        results = prepared.session.run(
            self.fetches, self.feeds or None, options=self.options, run_metadata=metadata
        )
        return results, metadata


def run_hooked_step(
    prepared: PreparedCalls, schedule: Schedule, fetches: StepFetches, *, last: int
) -> tuple[Sequence[Any], bool]:
    """Runs a step with every hook that wants it.

    Args:
      prepared: the session.
      schedule: the hooks.
      fetches: the tensors of every step.
      last: the global step before it.

    Returns:
      The values of `fetches.tensors`, and whether a hook requested a stop.

    Raises:
      FeedConflictError: two hooks feed the same tensor.
    """
    context = tf.train.SessionRunContext(
        original_args=tf.train.SessionRunArgs(fetches.tensors[0]), session=prepared.session
    )
    wanting = schedule.wanting(last + 1)
    request = _Request({"step": fetches.tensors})
    for hook in wanting:
        if has_cadence(hook):
            args = hook.before_step(context, last + 1)
        else:
            args, request.needs_session_run = hook.before_run(context), True
        if args is not None:
            request.add(hook, args)
    results, metadata = request.run(prepared)
    values = results["step"]
    step, not_finite = int(values[1]), fetches.not_finite(values)
    for hook in schedule.hooks:
        if hook in not_finite:
            hook.not_finite(context, not_finite[hook], step)
        if hook in wanting:
            of_hook = tf.train.SessionRunValues(results.get(hook), request.options, metadata)
            _after(hook, context, of_hook, step, as_expected=step == last + 1)
    return values, context.stop_requested


def _after(hook: Any, context: Any, values: Any, step: int, *, as_expected: bool) -> None:
    if not has_cadence(hook):
        hook.after_run(context, values)
    # Where gradients are accumulated, a run need not be a step.
    elif as_expected or hook.cadence.wants(step):
        hook.after_step(context, values, step)
        hook.cadence.mark(step)


_LARGER: tuple[str, ...] = ("trace_level", "timeout_in_ms", "inter_op_thread_pool")
_EITHER: tuple[str, ...] = ("output_partition_graphs", "report_tensor_allocations_upon_oom")


def merge_options(options: Any, more: Any) -> None:
    """Merges `RunOptions` into others as `MonitoredSession` does: the larger, and either."""
    for name in (*_LARGER, *_EITHER):  # Of two switches the larger one is either.
        setattr(options, name, max(getattr(options, name), getattr(more, name)))
    debug, more_debug = options.debug_options, more.debug_options
    debug.debug_tensor_watch_opts.extend(more_debug.debug_tensor_watch_opts)
    debug.reset_disk_byte_usage |= more_debug.reset_disk_byte_usage
