"""Which hooks a step runs, in which order, and how far the loop may go without any."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.hooks.base import Hook, Phase, in_phase_order
from tf_frame.hooks.cadence import NEVER


class Schedule:
    """The hooks of a session, in phase order.

    Args:
      hooks: those of tf-frame say which steps they want; any other
        `SessionRunHook` that does something in `before_run` or `after_run` is
        called at every step, and then no step goes without hooks.
      sort: by phase; else they stay as given.

    Attributes:
      hooks: all, in order.
      asks: to be called between all steps; what returns true ends training.
    """

    def __init__(self, hooks: Iterable[Any], *, sort: bool = True) -> None:
        self.hooks = in_phase_order(hooks) if sort else list(hooks)
        self._ours = [hook for hook in self.hooks if wants_some_steps(hook)]
        self._every_step = [hook for hook in self.hooks if wants_every_step(hook)]
        self._watching = [hook for hook in self._ours if hook.watched is not None]
        self._asked = [hook for hook in self._ours if _is_asked(hook)]
        self.asks = [hook.should_stop for hook in self._asked]

    def next_step(self, last: int) -> float:
        """The earliest step after `last` that some hook wants; infinite if none."""
        if self._every_step:
            return last + 1
        return max(last + 1, min((h.cadence.next_step() for h in self._ours), default=NEVER))

    def next_time(self) -> float:
        """When some hook wants the next step, by the clock `time.monotonic`."""
        return min((hook.cadence.next_time() for hook in self._ours), default=NEVER)

    def wanting(self, step: int) -> list[Any]:
        """The hooks that want a step, in order."""
        wanting = {hook for hook in self._ours if hook.cadence.wants(step)}
        wanting.update(self._every_step)
        return [hook for hook in self.hooks if hook in wanting]

    def watching(self) -> list[Hook]:
        """The hooks that watch a tensor in every step, in order."""
        return self._watching

    def should_stop(self) -> bool:
        """Whether some hook wants training to end."""
        # Not any() of a generator, which costs as much as asking: this is called at every step.
        for ask in self.asks:  # noqa: SIM110
            if ask():
                return True
        return False

    def after_last_step(self, step: int) -> None:
        """Tells the hooks that training has ended well."""
        for hook in self._ours:
            hook.after_last_step(step)

    def keeps_fast_path_off(self) -> list[str]:
        """The hooks that are called at every step, by name and module."""
        always = [h for h in self._ours if h.cadence.every_steps == 1]
        return list(dict.fromkeys(_origin(hook) for hook in (*self._every_step, *always)))

    def describe(self) -> list[str]:
        """The order of hooks within a step, a line each, and whether steps go without them."""
        lines = ["hooks of a step, in this order:"]
        lines += [f"  {_phase(h):<10} {type(h).__name__:<22} {self._when(h)}" for h in self.hooks]
        off = self.keeps_fast_path_off()
        if off:
            verb = "is" if len(off) == 1 else "are"
            lines.append(f"fast path: off, for {' and '.join(off)} {verb} called at every step")
        else:
            lines.append("fast path: on; between the steps that they want no hook runs")
        return lines

    def _when(self, hook: Any) -> str:
        if hook in self._every_step:
            return f"every step (says no cadence; {type(hook).__module__})"
        if hook not in self._ours:
            return "at the start and the end of the session"
        wanted = [str(hook.cadence)] if hook.cadence else []
        if hook.watched is not None:
            wanted.append(f"watches {hook.watched.op.name}")
        if hook in self._asked:
            wanted.append("asked between steps whether to stop")
        return "; ".join(wanted) or "at the start and the end of the session"


def overrides(hook: Any, method: str, base: type) -> bool:
    """Whether a hook has a method of its own in place of that of `base`."""
    return getattr(type(hook), method, None) is not getattr(base, method)


def wants_some_steps(hook: Any) -> bool:
    """Whether it is a hook of ours, called as `Hook` says."""
    if not isinstance(hook, Hook):
        return False
    own = overrides(hook, "before_run", Hook) or overrides(hook, "after_run", Hook)
    return hook.both_protocols or not own


def wants_every_step(hook: Any) -> bool:
    """Whether it is to be called at every step, as TensorFlow does."""
    if wants_some_steps(hook):
        return False
    base = tf.train.SessionRunHook
    return overrides(hook, "before_run", base) or overrides(hook, "after_run", base)


def _is_asked(hook: Hook) -> bool:
    return hook.asked_between_steps and overrides(hook, "should_stop", Hook)


def _phase(hook: Any) -> str:
    return Phase(getattr(hook, "phase", Phase.OBSERVE)).name.lower()


def _origin(hook: Any) -> str:
    return f"{type(hook).__name__} ({type(hook).__module__})"
