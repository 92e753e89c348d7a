"""Events of XPlane captures, for tests of profiling."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def event_names(path: str) -> set[str]:
    """Returns the names of all events, such as operations."""
    return {name for name, _, _ in _events(path)}


def marked_steps(path: str) -> list[int]:
    """Returns the step numbers that TensorBoard's Profile tab shows, in order of time."""
    roots = [(start, stats) for _, start, stats in _events(path) if stats.get("_r") == 1]
    marks = [(start, stats) for start, stats in roots if "step_num" in stats]
    return [stats["step_num"] for _, stats in sorted(marks, key=lambda mark: mark[0])]


def _events(path: str) -> Iterator[tuple[str, float, dict[str, Any]]]:
    """Yields name, start in picoseconds, and integer statistics by name, of each event."""
    from tensorflow.tsl.profiler.protobuf import xplane_pb2

    with open(path, "rb") as file:
        space = xplane_pb2.XSpace.FromString(file.read())
    for plane in space.planes:
        for line in plane.lines:
            for event in line.events:
                stats = {
                    plane.stat_metadata[stat.metadata_id].name: stat.int64_value
                    or stat.uint64_value
                    for stat in event.stats
                }
                start = line.timestamp_ns * 1000 + event.offset_ps
                yield plane.event_metadata[event.metadata_id].name, start, stats
