"""The options of the additions, and those in use in this process. Imports no TensorFlow."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

from tf_frame.config.option import option
from tf_frame.session.interrupts import Interrupts


@dataclasses.dataclass(frozen=True)
class WatchOptions:
    """Additions to a program."""

    profile_at_step: tuple[int, ...] = option(
        (), "profile 5 steps from each of these steps on, for tf-frame profile show and TensorBoard"
    )
    profile_dir: str = option(
        "profile", "folder of the profiles; those of an Estimator are in its model_dir"
    )
    save_on_signal: bool = option(
        False, "on Ctrl-C or SIGTERM finish the step, save by the program's Saver and end"
    )
    check_finite: bool = option(False, "refuse to save variables that are NaN or infinite")
    attach: bool = option(False, "answer tf-frame profile attach MODEL_DIR; Estimators only")
    metrics_csv: bool = option(False, "write scalar summaries to metrics.csv beside event files")
    exact_resume: bool = option(
        False,
        "refuse to train an Estimator that could not go on after a kill as if nothing had happened",
    )


@dataclasses.dataclass(frozen=True)
class Watch:
    """The additions in use.

    Attributes:
      options: the options.
      interrupts: the signals that were received.
      paused: leaves the sessions within a block to tf-frame's loop.
    """

    options: WatchOptions
    interrupts: Interrupts
    paused: Callable[[], contextlib.AbstractContextManager[None]]

    def run_options(self) -> dict[str, Any]:
        """Returns the options of tf-frame's own loop, for an Estimator."""
        return {
            "profile_at_step": self.options.profile_at_step,
            "allow_inexact_resume": not self.options.exact_resume,
        }


_active: Watch | None = None


def active() -> Watch | None:
    """Returns the additions in use; None: there are none."""
    return _active


@contextlib.contextmanager
def activated(watch: Watch) -> Iterator[None]:
    """Uses the additions within the block."""
    global _active
    _active = watch
    try:
        yield
    finally:
        _active = None
