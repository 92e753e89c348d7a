"""Hints: the most common causes of slow steps, found in the figures of a report, and remedies.

A cause is a function that yields hints; for a healthy profile it yields none. The gain of a hint is
an upper bound of the time that would be saved, as a part of the step. Each cause has a threshold;
below it, the gain is noise of the machine.
"""

from __future__ import annotations

from tf_frame.profiling.report import graph_hints, hook_hints
from tf_frame.profiling.report.contents import Hint, Report

# Of two hints with the same gain, the first one says more.
_CAUSES = (
    graph_hints.slow_input,
    hook_hints.slow_hook,
    hook_hints.checkpoints,
    hook_hints.summaries,
    graph_hints.memory_hog,
    graph_hints.slow_clone,
    graph_hints.host_operation,
    graph_hints.serial_updates,
    graph_hints.small_steps,
)


def find_hints(report: Report) -> tuple[Hint, ...]:
    """Returns the hints for a report, the largest gain first."""
    hints = [hint for cause in _CAUSES for hint in cause(report)]
    return tuple(sorted(hints, key=lambda hint: -hint.severity))
