"""Checks of Chrome traces by the Trace Event Format, as Perfetto and chrome://tracing read it."""

from __future__ import annotations

import collections
import json
from collections.abc import Sequence
from typing import Any

_Event = dict[str, Any]
# The keys that the importers of both viewers need for each phase, and `ph`, `pid`, `tid`, `ts`.
_NEEDED = {
    "M": {"name", "args"},
    "X": {"name", "dur"},
    "s": {"name", "cat", "id"},
    "f": {"name", "cat", "id", "bp"},
    "C": {"name", "args"},
    "N": {"name", "id"},
    "O": {"name", "id", "args"},
    "D": {"name", "id"},
}


def checked(trace: str) -> list[_Event]:
    """Asserts that a trace is valid; returns its events."""
    events: list[_Event] = json.loads(trace)["traceEvents"]
    for event in events:
        assert {"ph", "pid", "tid", "ts"} | _NEEDED[event["ph"]] <= event.keys(), event
        assert event["ts"] >= 0, event
        assert all(isinstance(event[key], int) for key in ("pid", "tid")), event
    _check_names(events)
    _check_nesting(events)
    _check_arrows(events)
    return events


def in_phase(events: Sequence[_Event], phase: str) -> list[_Event]:
    """The events of a phase, such as `X`."""
    return [event for event in events if event["ph"] == phase]


def rows(events: Sequence[_Event]) -> dict[str, int]:
    """Number of each row by its name."""
    heads = [event for event in in_phase(events, "M") if event["name"] == "process_name"]
    return {event["args"]["name"]: event["pid"] for event in heads}


def _check_names(events: Sequence[_Event]) -> None:
    named = rows(events)
    heads = [event for event in in_phase(events, "M") if event["name"] == "process_name"]
    assert len(heads) == len(named) == len(set(named.values()))
    assert {event["pid"] for event in events} == set(named.values())


def _check_nesting(events: Sequence[_Event]) -> None:
    """Bars of a lane are one after another, or within each other."""
    by_lane = collections.defaultdict(list)
    for event in in_phase(events, "X"):
        assert event["dur"] > 0, event
        begin = round(event["ts"] * 1000)
        by_lane[event["pid"], event["tid"]].append((begin, -round(event["dur"] * 1000)))
    for bars in by_lane.values():
        open_until: list[int] = []
        for begin, minus in sorted(bars):
            while open_until and open_until[-1] <= begin:
                open_until.pop()
            assert not open_until or begin - minus <= open_until[-1], (begin, open_until)
            open_until.append(begin - minus)


def _check_arrows(events: Sequence[_Event]) -> None:
    """Each arrow has a begin and an end, in this order, both within a bar."""
    begins = {event["id"]: event for event in in_phase(events, "s")}
    ends = {event["id"]: event for event in in_phase(events, "f")}
    assert begins.keys() == ends.keys()
    assert len(begins) + len(ends) == len(in_phase(events, "s")) + len(in_phase(events, "f"))
    bars = collections.defaultdict(list)
    for bar in in_phase(events, "X"):
        bars[bar["pid"], bar["tid"]].append((bar["ts"], bar["ts"] + bar["dur"]))
    for number, begin in begins.items():
        assert begin["ts"] <= ends[number]["ts"]
        for end in (begin, ends[number]):
            lane = bars[end["pid"], end["tid"]]
            assert any(first <= end["ts"] < last for first, last in lane), end
