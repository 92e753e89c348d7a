from chrome_traces import checked, in_phase, rows
from step_profiles import PS, W0, W1, make_profile
from tf_frame.profiling.clock_alignment import Run, align
from tf_frame.profiling.merged_trace import draw_tasks
from tf_frame.profiling.xplane import Event, Line


def merged(*profiles, captures=None, step=None):
    return checked(draw_tasks(align(Run(profiles, captures or {}), step)).json())


def test_rows_of_tasks_with_steps_session_calls_and_hooks():
    first = make_profile("worker_0", [(W0, "a", "Add", 10, 20), (PS, "w", "Read", 30, 40)])
    second = make_profile("worker_1", [(W1, "a", "Add", 10, 20)])
    assert list(rows(merged(first, second))) == [
        "worker_0 Python",
        "worker_0 CPU:0",
        "worker_1 Python",
        "worker_1 CPU:0",
        "ps_0 CPU:0",
    ]
    events = merged(make_profile("worker_0", [], begin=1000, end=9000))
    bars = [(bar["name"], bar["cat"], bar["ts"], bar["dur"]) for bar in in_phase(events, "X")]
    assert bars == [
        ("step 100", "step", 0, 8),
        ("session call", "session", 0, 4),
        ("SomeHook", "hook", 4, 4),
    ]
    events = merged(make_profile("worker_0", [(W0, "a/b", "Add", 10, 20)]))
    (bar,) = (bar for bar in in_phase(events, "X") if bar["cat"] == "Op")
    assert (bar["name"], bar["args"]) == ("Add", {"name": "a/b", "op": "Add", "step": 100})
    events = merged(make_profile("worker_0", [(W0, "a", "Add", 0, 20), (W0, "b", "Add", 5, 9)]))
    assert {bar["tid"] for bar in in_phase(events, "X") if bar["cat"] == "Op"} == {0, 1}
    assert merged() == []


def select_arrows(events):
    names = {number: name for name, number in rows(events).items()}
    ends = {end["id"]: end for end in in_phase(events, "f")}
    return [
        (names[begin["pid"]], begin["ts"], names[ends[begin["id"]]["pid"]], begin["name"])
        for begin in in_phase(events, "s")
    ]


def test_an_arrow_leads_from_the_sender_to_the_receiver():
    profile = make_profile(
        "worker_0",
        [
            (PS, "w/read", "Identity", 0, 1000),
            (PS, "w/read/_4", "_Send", 2000, 3000),
            (W0, "w/read/_5", "_Recv", 0, 5000),
            (W0, "w/read", "RecvTensor", 4000, 5000),
        ],
    )
    assert select_arrows(merged(profile)) == [
        ("ps_0 CPU:0", 0.0, "worker_0 CPU:0", "w/read"),
        ("ps_0 CPU:0", 2.999, "worker_0 CPU:0", "w/read"),
    ]


def test_threads_of_a_capture_are_lanes_with_their_names():
    lines = [
        Line("/host:CPU", "grpc", [Event("Recv", 100, 900), Event("Parse", 200, 300)]),
        Line("/host:CPU", "compute", [Event("MatMul", 500, 500)]),
    ]
    events = merged(make_profile("worker_0", []), captures={"ps_0": lines})
    row = rows(events)["ps_0 /host:CPU"]
    names = {
        head["tid"]: head["args"]["name"]
        for head in in_phase(events, "M")
        if head["name"] == "thread_name" and head["pid"] == row
    }
    bars = [bar for bar in in_phase(events, "X") if bar["pid"] == row]
    assert [(names[bar["tid"]], bar["name"]) for bar in bars] == [
        ("grpc", "Recv"),
        ("grpc", "Parse"),
        ("compute", "MatMul"),
    ]
