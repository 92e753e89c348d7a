"""One step with hooks: the protocol of `MonitoredSession`, for the hooks that want the step."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.errors import ConfigError
from tf_frame.hooks.training_clock import mark_traced
from tf_frame.session.prepared import Prepared
from tf_frame.session.schedule import Schedule, wants_some_steps


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What a step came to.

    Attributes:
      step: the global step after it.
      loss: value of the train op.
      stop: whether a hook requested a stop.
    """

    step: int
    loss: Any
    stop: bool


class FeedConflictError(ConfigError, RuntimeError):
    """Two hooks feed the same tensor; `MonitoredSession` raises a `RuntimeError`."""


class _Request:
    """What the hooks of a step ask for, merged as TensorFlow merges it."""

    def __init__(self, fetches: Mapping[Any, Any]) -> None:
        self.fetches = dict(fetches)
        self.feeds: dict[Any, Any] = {}
        self.options = tf.RunOptions()
        self.plain = True

    def add(self, hook: Any, args: Any) -> None:
        """Adds the `SessionRunArgs` of a hook.

        Raises:
          FeedConflictError: another hook feeds the same tensor.
        """
        if args is None:
            return
        if args.fetches is not None:
            self.fetches[hook] = args.fetches
        if args.feed_dict:
            same = set(self.feeds) & set(args.feed_dict)
            if same:
                raise FeedConflictError(
                    f"Same tensor is fed by two hooks. Conflict(s): {list(same)}; leave one out"
                )
            self.feeds.update(args.feed_dict)
        if args.options:
            merge_options(self.options, args.options)
            if args.options.trace_level:
                mark_traced()
            self.plain = False


def run_hooked_step(
    prepared: Prepared,
    schedule: Schedule,
    *,
    train_op: Any,
    step_after: Any,
    last: int,
    scalars: Sequence[Any] = (),
) -> Outcome:
    """Runs a step with every hook that wants it.

    Args:
      prepared: the session.
      schedule: the hooks.
      train_op: what makes the step.
      step_after: the global step after it, a tensor.
      last: the global step before it.
      scalars: what hooks often want; fetched in any case, so that fewer sets of
        fetches have to be prepared.

    Raises:
      FeedConflictError: two hooks feed the same tensor.
    """
    context = tf.train.SessionRunContext(
        original_args=tf.train.SessionRunArgs(train_op, None), session=prepared.session
    )
    wanting, watching = schedule.wanting(last + 1), schedule.watching()
    watched = {("watched", hook): hook.watched for hook in watching}
    request = _Request({"caller": train_op, "step": step_after, "also": list(scalars), **watched})
    for hook in wanting:
        ours = wants_some_steps(hook)
        request.add(hook, hook.before_step(context, last + 1) if ours else hook.before_run(context))
        request.plain = request.plain and ours
    results, metadata = _run(prepared, request)
    step = int(results["step"])
    for hook in schedule.hooks:
        value = results.get(("watched", hook))
        if value is not None and not math.isfinite(value):
            hook.not_finite(context, value, step)
        if hook in wanting:
            values = tf.train.SessionRunValues(results.get(hook), request.options, metadata)
            _after(hook, context, values, step, as_foreseen=step == last + 1)
    return Outcome(step, results["caller"], context.stop_requested)


def _run(prepared: Prepared, request: _Request) -> tuple[Any, Any]:
    metadata = tf.RunMetadata()
    if request.plain and not request.feeds:
        return prepared.run(request.fetches), metadata
    results = prepared.session.run(
        request.fetches, request.feeds or None, options=request.options, run_metadata=metadata
    )
    return results, metadata


def _after(hook: Any, context: Any, values: Any, step: int, *, as_foreseen: bool) -> None:
    if not wants_some_steps(hook):
        hook.after_run(context, values)
    # Where gradients are accumulated, a run need not be a step.
    elif as_foreseen or hook.cadence.wants(step):
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
