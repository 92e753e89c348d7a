"""Hints: the commonest causes of slow steps, found in the figures of a report, and what helps.

A cause is a function that returns its hints, none for a healthy profile. Their gain is the part of
the step that would be saved at most; below the cause's threshold it is noise of the machine.
"""

from __future__ import annotations

from tf_frame.profiling.report import graph_causes, hook_causes
from tf_frame.profiling.report.figures import Hint, Report

# Of two with the same gain, the first one says more.
_CAUSES = (
    graph_causes.slow_input,
    hook_causes.slow_hook,
    hook_causes.checkpoints,
    hook_causes.summaries,
    graph_causes.memory_hog,
    graph_causes.slow_clone,
    graph_causes.host_operation,
    graph_causes.serial_updates,
    graph_causes.small_steps,
)


def hints(report: Report) -> tuple[Hint, ...]:
    """Returns the hints for a report, the largest gain first."""
    found = [hint for cause in _CAUSES for hint in cause(report)]
    return tuple(sorted(found, key=lambda hint: -hint.severity))
