"""`ProgressHook`: shows the progress of training, and measures the mean rate for `result.json`."""

from __future__ import annotations

import dataclasses
import sys
from typing import Any, TextIO

import tensorflow.compat.v1 as tf

from tf_frame.hooks.base import Hook, Phase
from tf_frame.hooks.cadence import Multiples
from tf_frame.hooks.training_clock import training_clock
from tf_frame.profiling.step_times import is_starving
from tf_frame.progress_bar import ProgressBar
from tf_frame.text import figure, gflops_text
from tf_frame.text_width import cell_width, terminal_width
from tf_frame.types import Session, Tensor

_BAR_SECS = 0.5


@dataclasses.dataclass(eq=False)
class ProgressHook(Hook):
    """Shows step, loss, rates, remaining time, waiting for input; measures mean rates.

    The rates are steps/s, examples/s and, where the cost of a step is known and the line is wide
    enough, GFLOP/s. On a terminal the hook shows a bar, otherwise lines; they end with `input 43 %`
    where steps waited for their batches for more than a fifth of the time. It runs at the first
    step of a session, at the multiples of `every_steps` and at the last step; for a bar also every
    half second. No rate includes the first step: TensorFlow optimises the graph, and the input
    pipeline fills.

    Args:
      loss_tensor: scalar tensor to show.
      loss_name: name of the loss in the bar and the lines.
      last_step: global step at which training ends.
      examples_per_step: examples in one step.
      every_steps: steps between lines, or between updates of the bar's figures; 0: nothing is
        shown.
      input_wait: scalar tensor that reads the seconds of all steps that waited for input, or None.
      flops_per_step: floating-point operations of a step; None: unknown.
      peak_flops: FLOP/s of the machine's peak; None: unknown.
      out: output stream; default: standard output.

    Attributes:
      first_step: the first step of the session.
      step: the last step at which the hook ran; after training, the last step.
      loss: loss of the last step at which the hook ran, None before the first.
    """

    phase = Phase.LOG
    option = "--log_every_n_steps"

    loss_tensor: Tensor
    _: dataclasses.KW_ONLY
    last_step: int
    examples_per_step: int
    every_steps: int
    loss_name: str = "loss"
    input_wait: Tensor | None = None
    flops_per_step: float | None = None
    peak_flops: float | None = None
    out: TextIO = dataclasses.field(default_factory=lambda: sys.stdout)

    def __post_init__(self) -> None:
        self._shows_bar = bool(self.every_steps) and self.out.isatty()
        self._bar: Any = None
        self.first_step = self.step = 0
        self._first_time = self._time = 0.0
        self._first_waited = self._waited = self._waited_time = 0.0
        self.loss: float | None = None
        bar_secs = _BAR_SECS if self._shows_bar else None
        steps = self.every_steps or None
        super().__init__(Multiples(steps, first=1, last_step=self.last_step, every_secs=bar_secs))

    @property
    def steps_per_sec(self) -> float | None:
        """Mean rate of the session without the first step; None before the second step."""
        seconds = self._time - self._first_time
        return (self.step - self.first_step) / seconds if seconds > 0 else None

    @property
    def examples_per_sec(self) -> float | None:
        """Mean rate in examples; None before the second step."""
        rate = self.steps_per_sec
        return None if rate is None else rate * self.examples_per_step

    @property
    def flops_per_sec(self) -> float | None:
        """Mean rate in floating-point operations; None before the second step, or unknown."""
        rate = self.steps_per_sec
        return None if rate is None or not self.flops_per_step else rate * self.flops_per_step

    @property
    def input_share(self) -> float | None:
        """Share of the time since the first step that steps waited for input; None: unknown."""
        seconds = self._waited_time - self._first_time
        if self.input_wait is None or seconds <= 0:
            return None
        return (self._waited - self._first_waited) / seconds

    def start(self, session: Session, step: int) -> None:
        super().start(session, step)
        # A session after a lost one begins at an earlier step.
        self.close()
        self._interval = (0, 0.0, 0.0)
        if self.input_wait is not None:
            self._read_waited = session.make_callable(self.input_wait)
        self._started = False

    def before_step(self, run_context: Any, step: int) -> Any:
        return tf.train.SessionRunArgs(self.loss_tensor)

    def after_step(self, run_context: Any, run_values: Any, step: int) -> None:
        self.loss = float(run_values.results)
        now = training_clock()
        if self.input_wait is not None:
            self._waited, self._waited_time = float(self._read_waited()), now
        self._note(step, now)
        if self.every_steps and self._due():
            self._show(*self._interval)
            self._interval = (self.step, self._time, self._waited)

    def after_last_step(self, step: int) -> None:
        if self._started and step > self.step:
            self._note(step, training_clock())

    def end(self, session: Session) -> None:
        # Sessions of TensorFlow do not call `after_last_step`.
        self.after_last_step(int(session.run(tf.train.get_global_step(session.graph))))
        self.close()

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None

    def _note(self, step: int, now: float) -> None:
        self.step, self._time = step, now
        if not self._started:
            self._start()
        if self._bar is not None:
            self._bar.update(step - self._bar.n)

    def _start(self) -> None:
        self._started = True
        self.first_step, self._first_time = self.step, self._time
        self._first_waited = self._waited
        self._interval = (self.step, self._time, self._waited)
        if self._shows_bar:
            self._bar = ProgressBar(
                total=self.last_step, initial=self.step, file=self.out, unit="step", desc="train"
            )

    def _due(self) -> bool:
        """Returns whether the global step has reached a multiple of `every_steps`, or the end.

        With several workers the global step may skip the multiple itself.
        """
        multiples = self.step // self.every_steps - self._interval[0] // self.every_steps
        return multiples > 0 or self.step >= self.last_step

    def _show(self, since_step: int, since_time: float, since_waited: float) -> None:
        if self.loss is None:
            return
        loss = f"{self.loss_name} {figure(self.loss)}"
        steps = self.step - since_step  # 0 if the only step of a session is shown.
        secs = max(self._time - since_time, 1e-9)
        rate, share = steps / secs, (self._waited - since_waited) / secs
        examples = f"{rate * self.examples_per_step:.1f} examples/s"
        flops = gflops_text(rate * (self.flops_per_step or 0), self.peak_flops)
        waiting = f"input {100 * share:.0f} %" if is_starving(share, rate) else ""
        if self._bar is not None:
            # Before the bar: a narrow terminal leaves the figures behind it out.
            self._bar.set_description_str(f"train, {loss}", refresh=False)
            figures = ", ".join(filter(None, [examples, flops, waiting]))
            self._bar.set_postfix_str(figures if steps else "")
            return
        line = f"step {self.step}/{self.last_step}  {loss}"
        if steps:
            left = _clock((self.last_step - self.step) / rate)
            parts = [line, f"{rate:.2f} steps/s", examples, flops, f"{left} left", waiting]
            if cell_width("  ".join(filter(None, parts))) > terminal_width():
                parts.remove(flops)
            line = "  ".join(filter(None, parts))
        print(line, file=self.out, flush=True)


def _clock(seconds: float) -> str:
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{seconds:02d}" if hours else f"{minutes}:{seconds:02d}"
