"""Who watches a run: the command line with its screen and signals, or a script with its log."""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Callable

from tf_frame.session.interrupts import Interrupts

_LOG = logging.getLogger("tf_frame")


@dataclasses.dataclass(frozen=True)
class RunObserver:
    """Who hears of a run, and may stop it.

    Attributes:
      report: takes a line for the user; default: the log of tf-frame does.
      interrupts: asked between steps whether to stop; default: nothing stops.
      shows_progress: whether training shows a bar, or lines of progress.
    """

    report: Callable[[str], None] = _LOG.info
    interrupts: Interrupts = dataclasses.field(default_factory=Interrupts)
    shows_progress: bool = False
