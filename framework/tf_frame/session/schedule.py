"""`Schedule`: the order of a session's hooks, and the steps at which each of them runs.

The training loop asks the schedule how many steps may run without hooks, on the fast path.
`--show_hooks` prints the schedule, with the hooks that run at every step and turn this path off.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.hooks.base import REPLAN, Hook, Phase, in_phase_order
from tf_frame.hooks.cadence import NEVER


class Schedule:
    """The hooks of a session, in phase order.

    Args:
      hooks: a hook of tf-frame has a cadence. Any other `SessionRunHook` that overrides
        `before_run` or `after_run` is called at every step, and then no step runs without hooks.
      sort: whether to sort the hooks by phase.

    Attributes:
      hooks: all hooks, in order.
      watching: the hooks that watch a tensor in every step.
      at_every_step: the hooks that are called at every step, as TensorFlow calls them.
      stopped_by: the first hook that requested the end of training, or None.
    """

    def __init__(self, hooks: Iterable[Any], *, sort: bool = True) -> None:
        self.stopped_by: Any = None
        self._set(in_phase_order(hooks) if sort else list(hooks))

    def _set(self, hooks: list[Any]) -> None:
        self.hooks = hooks
        self._with_cadence = [hook for hook in self.hooks if has_cadence(hook)]
        self.at_every_step = frozenset(hook for hook in self.hooks if acts_at_every_step(hook))
        self.watching = [hook for hook in self._with_cadence if hook.watched is not None]
        self._asked = [hook for hook in self._with_cadence if _is_asked(hook)]

    def add(self, hook: Any) -> None:
        """Adds a hook to an open session; the hook has been started, and watches no tensor."""
        self._set(in_phase_order([*self.hooks, hook]))

    def next(self, last: int) -> tuple[float, float]:
        """Returns the next step and the next time, after step `last`, at which a hook must run.

        Both are infinite without such a hook; the time is by the clock `time.monotonic`.
        """
        times = (hook.cadence.next_time() for hook in self._with_cadence)
        steps = (hook.cadence.next_step() for hook in self._with_cadence)
        step = last + 1 if self.at_every_step else min(steps, default=NEVER)
        return max(last + 1, step), min(times, default=NEVER)

    def wanting(self, step: int) -> list[Any]:
        """Returns the hooks that want a step, in order."""
        wanting = {hook for hook in self._with_cadence if hook.cadence.wants(step)}
        wanting |= self.at_every_step
        return [hook for hook in self.hooks if hook in wanting]

    def should_stop(self) -> Any:
        """Asks hooks between two steps whether to stop; returns true, false or `REPLAN`."""
        # Called at every step; any() of a generator would cost as much as the hooks' answers.
        for hook in self._asked:
            if answer := hook.should_stop():
                if answer is not REPLAN:
                    self.stopped_by = self.stopped_by or hook
                return answer
        return False

    def after_last_step(self, step: int) -> None:
        """Tells the hooks that training has ended without an error."""
        for hook in self._with_cadence:
            hook.after_last_step(step)

    def fail_before_first_step(self) -> None:
        """Tells the hooks that training failed before its first step was complete."""
        for hook in self._with_cadence:
            hook.fail_before_first_step()

    def keeps_fast_path_off(self) -> list[str]:
        """Returns the hooks that run at every step, by name and module; then no step is fast."""
        every_step = [hook for hook in self.hooks if hook in self.at_every_step]
        always = [hook for hook in self._with_cadence if hook.cadence.every_steps == 1]
        classes = dict.fromkeys(type(hook) for hook in (*every_step, *always))
        return [f"{cls.__name__} ({cls.__module__})" for cls in classes]

    def describe(self) -> list[str]:
        """Returns a line for each hook, in order, and a line whether steps run without hooks."""
        lines = ["hooks of a step, in this order:"]
        lines += [self._line(hook) for hook in self.hooks]
        off = self.keeps_fast_path_off()
        if off:
            verb = "is" if len(off) == 1 else "are"
            lines.append(f"fast path: off, for {' and '.join(off)} {verb} called at every step")
        else:
            lines.append("fast path: on; between the steps that they want no hook runs")
        return lines

    def _line(self, hook: Any) -> str:
        phase = Phase(getattr(hook, "phase", Phase.OBSERVE)).name.lower()
        option = getattr(hook, "option", "")
        because = f" ({option})" if option else ""
        return f"  {phase:<10} {type(hook).__name__:<22} {self._when(hook)}{because}"

    def _when(self, hook: Any) -> str:
        if hook in self.at_every_step:
            return f"every step (says no cadence; {type(hook).__module__})"
        if hook not in self._with_cadence:
            return "at the start and the end of the session"
        parts = [str(hook.cadence)] if hook.cadence else []
        if hook.watched is not None:
            parts.append(f"watches {hook.watched.op.name}")
        if hook in self._asked:
            parts.append("asked between steps whether to stop")
        return "; ".join(parts) or "at the start and the end of the session"


def has_cadence(hook: Any) -> bool:
    """Returns true for a hook of tf-frame that is called by the protocol of `Hook`."""
    if not isinstance(hook, Hook):
        return False
    overrides = _overrides(hook, "before_run", Hook) or _overrides(hook, "after_run", Hook)
    return hook.both_protocols or not overrides


def acts_at_every_step(hook: Any) -> bool:
    """Returns true for a hook without a cadence that acts before or after a step."""
    if has_cadence(hook):
        return False
    base = tf.train.SessionRunHook
    return _overrides(hook, "before_run", base) or _overrides(hook, "after_run", base)


def _overrides(hook: Any, method: str, base: type) -> bool:
    return getattr(type(hook), method, None) is not getattr(base, method)


def _is_asked(hook: Hook) -> bool:
    return hook.asked_between_steps and _overrides(hook, "should_stop", Hook)
