"""`HookedRun`, the events of a training with a hook, and the hooks that record them."""

from __future__ import annotations

import dataclasses
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.hooks.base import Hook, Phase
from tf_frame.hooks.cadence import Cadence
from tf_frame.session.schedule import has_cadence


@dataclasses.dataclass
class HookedRun:
    """The events of a training.

    Attributes:
      losses: of each step.
      steps: the last global step.
      stopped: whether a hook ended the training early.
      error: of the training; None without one, or if it was to fail.
      outside_of_cadence: calls of hooks in steps that they do not want, in words.
      left: what is left of the hook after the training, in words.
    """

    losses: list[float] = dataclasses.field(default_factory=list)
    steps: int = 0
    stopped: bool = False
    error: Exception | None = None
    outside_of_cadence: list[str] = dataclasses.field(default_factory=list)
    left: list[str] = dataclasses.field(default_factory=list)


class Losses(Hook):
    """Records the loss of every step."""

    def __init__(self, run: HookedRun) -> None:
        super().__init__(Cadence(every_steps=1))
        self._run = run

    def before_step(self, run_context: Any, step: int) -> Any:
        return tf.train.SessionRunArgs(run_context.original_args.fetches)

    def after_step(self, run_context: Any, run_values: Any, step: int) -> None:
        self._run.losses.append(float(run_values.results))


class Watch(Hook):
    """Compares what hooks do in a step with the cadence that they declare.

    Args:
      run: gets the calls outside of a cadence.
      hooks: the hooks with a cadence.
      counts_calls: whether a call of the session can only come from one of these hooks, and not
        from a listener or a hook of TensorFlow, which declare no cadence.

    Attributes:
      count: the calls of sessions.
    """

    phase = Phase.STOP

    def __init__(self, run: HookedRun, hooks: list[Any], *, counts_calls: bool) -> None:
        super().__init__(Cadence(every_steps=1))
        self._run, self._hooks, self._counts_calls = run, hooks, counts_calls
        self.count: Any = None
        self._wanting: list[Any] = []
        self._calls: int | None = None

    def before_step(self, run_context: Any, step: int) -> None:
        if self._calls is None:  # The first step; the loop itself reads the global step before.
            self._next(step - 1)

    def after_step(self, run_context: Any, run_values: Any, step: int) -> None:
        # One call is the step itself.
        more = self._number() - (self._calls or 0) - 1
        if more > 0 and not self._wanting and self._counts_calls:
            self._run.outside_of_cadence.append(f"{more} calls of the session in step {step}")
        for hook in self._hooks:
            if not has_cadence(hook) and hook not in self._wanting:
                name = type(hook).__name__
                self._run.outside_of_cadence.append(
                    f"{name} (cadence: {hook.cadence}) is called in step {step}"
                )
        self._next(step)

    def _next(self, step: int) -> None:
        self._calls = self._number()
        self._wanting = [hook for hook in self._hooks if hook.cadence.wants(step + 1)]

    def _number(self) -> int:
        return int(self.count.runs + self.count.calls)
