import json

from chrome_traces import checked, in_phase, rows
from tf_frame.profiling.trace_events import Trace, arguments


def test_rows_lanes_and_times_of_bars():
    bars = Trace().place(1, [(0, 10), (2, 4), (3, 20), (4, 6), (10, 12)])
    assert [bar.lane for bar in bars] == [0, 1, 2, 1, 0]
    bars = Trace().place(1, [(5000, 5000), (5400, 5500), (6000, 6100)])
    assert [(bar.lane, bar.end) for bar in bars] == [(0, 6000), (1, 5500), (0, 6100)]
    trace = Trace(origin=10**18)
    bar = trace.at(trace.row("a"), 3, 10**18 + 12_345, 10**18 + 12_999)
    trace.bar(bar, "Op", 'na"me', arguments({"x": 1}))
    (event,) = in_phase(checked(trace.json()), "X")
    assert (event["ts"], event["dur"], event["tid"]) == (12.345, 0.654, 3)
    assert (event["name"], event["args"]) == ('na"me', {"x": 1})
    assert json.loads(trace.json())["otherData"] == {"origin_unix_ns": str(10**18)}
    trace = Trace()
    numbers = [trace.row(name) for name in ("b", "a")]
    heads = in_phase(json.loads(trace.json())["traceEvents"], "M")
    order = {e["pid"]: e["args"]["sort_index"] for e in heads if "sort_index" in e["args"]}
    assert sorted(order, key=order.get) == numbers
    assert trace.rows == ["b", "a"]


def drawn(*bars):
    trace = Trace()
    first, second = (trace.at(trace.row(name), *bar) for name, bar in zip("ab", bars, strict=True))
    for bar in (first, second):
        trace.bar(bar, "Op", "Add")
    trace.arrow("t", first, second)
    return checked(trace.json())


def test_arrows_and_curves():
    events = drawn((0, 0, 1000), (0, 1000, 2000))
    (begin,), (end,) = in_phase(events, "s"), in_phase(events, "f")
    assert (begin["ts"], end["ts"], begin["name"]) == (0.999, 1.0, "t")
    events = drawn((0, 0, 5000), (0, 1000, 2000))
    (begin,) = in_phase(events, "s")
    assert begin["ts"] == 1.0
    assert not in_phase(drawn((0, 1000, 2000), (0, 0, 500)), "s")
    trace = Trace()
    trace.curve(trace.row("memory"), "cpu", [(0, 5), (1500, 0)])
    events = checked(trace.json())
    points = [(e["ts"], e["args"]) for e in in_phase(events, "C")]
    assert points == [(0.0, {"cpu": 5}), (1.5, {"cpu": 0})]


def test_the_number_of_events_leaves_out_names():
    trace = Trace()
    row = trace.row("a")
    bar = trace.at(row, 0, 0, 1000)
    trace.lane(row, 0, "training")
    trace.bar(bar, "Op", "a")
    trace.arrow("t", bar, bar)
    trace.lifetime(row, "t", 0, 1000, {"bytes": 4})
    events = checked(trace.json())
    assert len(trace) == len([e for e in events if e["ph"] != "M"]) == 6
    assert rows(events) == {"a": row}
