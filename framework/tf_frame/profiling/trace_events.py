"""Chrome traces: bars on lanes, arrows and curves, for ui.perfetto.dev and chrome://tracing.

    trace = Trace(origin=begin_of_first)
    row = trace.row("worker_0 CPU:0")
    trace.bar(trace.at(row, 0, begin, end), "Op", "Conv2D", arguments({"name": "conv1"}))
    trace.json()

The format is the "Trace Event Format" of the Catapult project; its times are microseconds. Both
viewers keep times as 64-bit floats, too coarse for nanoseconds since 1970. So times in the file
count from `origin`, which is in `otherData`.
"""

from __future__ import annotations

import heapq
import json
import json.encoder
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

# A text as JSON, in a tenth of the time of `json.dumps`.
quote = json.encoder.encode_basestring_ascii
# Length of a bar without a length, which would be invisible. Transfers have whole microseconds.
_SHORTEST = 1000


class Bar(NamedTuple):
    """Place of a bar, for arrows; made by `Trace.place` and `Trace.at`.

    Attributes:
      row: number of its row, as `Trace.row` returned it.
      lane: number of its lane in the row.
      begin, end: times in nanoseconds.
      first, last: row, lane and time of its first and last moment, as JSON.
    """

    row: int
    lane: int
    begin: int
    end: int
    first: str
    last: str


def arguments(values: Mapping[str, Any]) -> str:
    """Returns the arguments of an event as JSON."""
    return json.dumps(values, separators=(",", ":"))


class Trace:
    """Events of a trace on named `rows`; times are nanoseconds since 1970.

    Args:
      origin: the time that is 0 in the file.
    """

    def __init__(self, origin: int = 0) -> None:
        self._origin = origin
        self.rows: list[str] = []
        self._arrows: list[str] = []
        self._heads: list[str] = []
        self._bars: list[str] = []
        self._others: list[str] = []
        self._where: dict[tuple[int, int], str] = {}

    def __len__(self) -> int:
        """Number of events, without the names of rows and lanes."""
        return len(self._bars) + 2 * len(self._arrows) + len(self._others)

    def row(self, name: str) -> int:
        """Begins a row, which the viewers call a process; returns its number."""
        self.rows.append(name)
        number = len(self.rows)
        self._head("process_name", number, 0, f'"name":{quote(name)}')
        self._head("process_sort_index", number, 0, f'"sort_index":{number}')
        return number

    def lane(self, row: int, lane: int, name: str) -> None:
        """Names a lane, which the viewers call a thread."""
        self._head("thread_name", row, lane, f'"name":{quote(name)}')

    def at(self, row: int, lane: int, begin: int, end: int) -> Bar:
        """Returns the place of a bar; a bar that takes no time is a microsecond long."""
        end = end if end > begin else begin + _SHORTEST
        where = self._where.get((row, lane))
        if where is None:
            where = self._where[row, lane] = f'"pid":{row},"tid":{lane},"ts":'
        # Equal to `f"{nanos / 1000:.3f}"`, in half of the time.
        first = str(begin - self._origin).zfill(4)
        last = str(end - 1 - self._origin).zfill(4)
        first, last = f"{where}{first[:-3]}.{first[-3:]}", f"{where}{last[:-3]}.{last[-3:]}"
        return Bar(row, lane, begin, end, first, last)

    def place(self, row: int, intervals: Iterable[tuple[int, int]]) -> list[Bar]:
        """Returns bars of (begin, end), by rising begin, each on the lowest lane that is free."""
        busy: list[tuple[int, int]] = []  # (end, lane)
        free: list[int] = []
        bars = []
        for begin, end in intervals:
            while busy and busy[0][0] <= begin:
                heapq.heappush(free, heapq.heappop(busy)[1])
            # All lanes in use are busy or free.
            bar = self.at(row, heapq.heappop(free) if free else len(busy), begin, end)
            heapq.heappush(busy, (bar.end, bar.lane))
            bars.append(bar)
        return bars

    def bar(self, bar: Bar, category: str, name: str, args: str = "{}") -> None:
        """Draws a bar; the viewer filters by category, and shows `args`, facts as JSON."""
        took = str(bar.end - bar.begin).zfill(4)
        self._bars.append(
            f'{{"ph":"X","cat":"{category}","name":{quote(name)},{bar.first},'
            f'"dur":{took[:-3]}.{took[-3:]},"args":{args}}}'
        )

    def arrow(self, name: str, sender: Bar, receiver: Bar) -> None:
        """Draws an arrow between two bars, unless it would go back in time.

        It leaves within the sender's bar, because the viewers search a bar at that time.
        """
        row, lane, begin, end, _, leaves = sender
        _, _, arrives, _, first, _ = receiver
        if begin <= arrives:
            if arrives < end:
                leaves = self.at(row, lane, arrives, end).first
            arrow = f'"cat":"DataFlow","name":{quote(name)},"id":{len(self._arrows)}'
            self._arrows.append(
                f'{{"ph":"s",{arrow},{leaves}}},{{"ph":"f","bp":"e",{arrow},{first}}}'
            )

    def curve(self, row: int, name: str, points: Sequence[tuple[int, int]]) -> None:
        """Draws a curve through (time, value), by rising time."""
        label = quote(name)
        self._others += [
            f'{{"ph":"C","cat":"Memory","name":{label},"pid":{row},"tid":0,'
            f'"ts":{(time - self._origin) / 1000:.3f},"args":{{{label}:{value}}}}}'
            for time, value in points
        ]

    def lifetime(
        self, row: int, name: str, begin: int, end: int, snapshot: Mapping[str, Any]
    ) -> None:
        """Draws the life of an object, with facts; Perfetto does not show the facts."""
        number = len(self._others)
        shared = f'"cat":"Tensor","name":{quote(name)},"id":{number},"pid":{row},"tid":0,'
        begins = f'"ts":{(begin - self._origin) / 1000:.3f}'
        facts = arguments({"snapshot": snapshot})
        self._others += [
            f'{{"ph":"N",{shared}{begins}}}',
            f'{{"ph":"O",{shared}{begins},"args":{facts}}}',
            f'{{"ph":"D",{shared}"ts":{(end - self._origin) / 1000:.3f}}}',
        ]

    def json(self) -> str:
        """Returns the trace, as JSON in one line."""
        begin = (
            f'{{"displayTimeUnit":"ns","otherData":{{"origin_unix_ns":"{self._origin}"}},'
            '"traceEvents":['
        )
        events = [*self._heads, *self._bars, *self._arrows, *self._others]
        if events:  # The text is long; it is put together once.
            events[0] = begin + events[0]
            events[-1] += "]}"
        return ",".join(events) if events else begin + "]}"

    def _head(self, kind: str, row: int, lane: int, args: str) -> None:
        self._heads.append(
            f'{{"ph":"M","name":"{kind}","pid":{row},"tid":{lane},"ts":0,"args":{{{args}}}}}'
        )
