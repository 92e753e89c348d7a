import collections
import json

import pytest
import tensorflow.compat.v1 as tf
from tensorflow.python.client.timeline import Timeline

from chrome_traces import checked, in_phase, rows
from tf_frame.profiling.chrome_trace import chrome_trace
from tf_frame.profiling.run_metadata import run_options

PS, WORKER = (f"/job:{job}/replica:0/task:0/device:CPU:0" for job in ("ps", "worker"))


@pytest.fixture
def metadata(small_graph):
    session, train_op, _ = small_graph
    metadata = tf.RunMetadata()
    session.run(train_op, options=run_options(), run_metadata=metadata)
    return metadata


@pytest.fixture(scope="module")
def clones():
    """A step on two devices, with a loop."""
    metadata = tf.RunMetadata()
    config = tf.ConfigProto(device_count={"CPU": 2})
    with tf.Graph().as_default():
        with tf.device("/cpu:0"):
            value = tf.random_uniform([50, 50])
            looped = tf.while_loop(lambda i: i < 3, lambda i: i + 1, [tf.constant(0)])
        with tf.device("/cpu:1"):
            other = tf.reduce_sum(tf.matmul(value, value))
        with tf.Session(config=config) as session:
            session.run([other, looped], options=run_options(), run_metadata=metadata)
    return metadata


@pytest.fixture(scope="module")
def theirs(clones):
    """Events of TensorFlow's own trace."""
    return json.loads(Timeline(clones.step_stats).generate_chrome_trace_format())["traceEvents"]


def select_bars(events):
    names = {number: name for name, number in rows(events).items()}
    return [(names[bar["pid"]], bar) for bar in in_phase(events, "X")]


def times_by_operation(events):
    """Begins and durations in nanoseconds, by device, arguments and name; lanes do not count."""
    found = collections.defaultdict(list)
    for row, bar in select_bars(events):
        key = row, bar["name"], json.dumps(bar["args"], sort_keys=True)
        found[key].append((round(bar["ts"] * 1000), round(bar["dur"] * 1000)))
    return {key: sorted(times) for key, times in found.items()}


def test_the_content_is_that_of_tensorflow(clones, theirs):
    text = chrome_trace(clones)
    expected, found = times_by_operation(theirs), times_by_operation(checked(text))
    assert expected.keys() == found.keys()
    origin = int(json.loads(text)["otherData"]["origin_unix_ns"])
    for key, times in expected.items():
        for (begin, took), (our_begin, our_took) in zip(times, found[key], strict=True):
            # TensorFlow rounds down to microseconds.
            assert 0 <= origin + our_begin - begin < 1000
            assert abs(our_took - took) <= 1000


def select_arrows(events):
    """(producer's row, tensor, consumer's row, consumer) of each arrow."""
    names = {number: name for name, number in rows(events).items()}
    ends = {e["id"]: e for e in events if e["ph"] in "tf"}
    consumers = {(e["pid"], e["tid"], e["ts"]): e["args"]["name"] for e in in_phase(events, "X")}
    return {
        (names[begin["pid"]], begin["name"], names[end["pid"]], consumers[place])
        for begin in in_phase(events, "s")
        for end in [ends[begin["id"]]]
        for place in [(end["pid"], end["tid"], end["ts"])]
    }


def test_arrows_between_devices_are_those_of_tensorflow(clones, theirs):
    # Within a device only arrows to other lanes are drawn, and lanes differ.
    expected, found = (
        {arrow for arrow in select_arrows(events) if arrow[0] != arrow[2]}
        for events in (theirs, checked(chrome_trace(clones)))
    )
    assert expected == found
    assert expected


def test_rows_and_lines_of_the_trace(metadata):
    assert set(rows(checked(chrome_trace(metadata)))) == {
        "/job:localhost/replica:0/task:0/device:CPU:0 Compute"
    }
    assert "\n" not in chrome_trace(metadata)
    before = metadata.SerializeToString()
    chrome_trace(metadata, memory=True)
    assert metadata.SerializeToString() == before


def test_times_of_bars():
    metadata = traced(("a = Op()", 1000, 0), ("b = Op()", 1000, 7))
    bars = in_phase(checked(chrome_trace(metadata)), "X")
    assert {bar["args"]["name"]: bar["dur"] for bar in bars} == {"a": 1, "b": 7}
    metadata = tf.RunMetadata()
    metadata.step_stats.dev_stats.add(device="d").node_stats.add(
        node_name="a", all_start_nanos=1_790_000_000_000_000_123, all_end_rel_nanos=345
    )
    text = chrome_trace(metadata)
    (bar,) = in_phase(checked(text), "X")
    assert (bar["ts"], bar["dur"]) == (0.123, 0.345)
    assert json.loads(text)["otherData"]["origin_unix_ns"] == "1790000000000000000"
    metadata = traced(("late = Op()", 50, 10), ("early = Op()", 0, 100), ("next = Op()", 60, 5))
    bars = in_phase(checked(chrome_trace(metadata)), "X")
    assert {bar["args"]["name"]: bar["tid"] for bar in bars} == {"early": 0, "late": 1, "next": 1}
    assert checked(chrome_trace(tf.RunMetadata(), memory=True)) == []


def traced(*nodes, device="/device:CPU:0"):
    """Run metadata of (label, begin, microseconds)."""
    metadata = tf.RunMetadata()
    stats = metadata.step_stats.dev_stats.add(device=device)
    for label, begin, micros in nodes:
        stats.node_stats.add(
            node_name=label.partition(" = ")[0],
            timeline_label=label,
            all_start_micros=begin,
            all_end_rel_micros=micros,
        )
    return metadata


def test_an_arrow_comes_from_the_last_execution_before_its_consumer():
    metadata = traced(
        ("a = Op()", 0, 10),
        ("a = Op()", 20, 10),
        ("a = Op()", 50, 10),
        ("slow = Op()", 0, 100),
        ("b = Neg(a)", 5, 8),
    )
    metadata.step_stats.dev_stats.add(device="other").node_stats.extend(
        traced(("c = Neg(a)", 40, 5)).step_stats.dev_stats[0].node_stats
    )
    events = checked(chrome_trace(metadata))
    begins = {end["id"]: begin for begin in in_phase(events, "s") for end in [begin]}
    to_other = [e for e in in_phase(events, "f") if e["pid"] == rows(events)["other Compute"]]
    assert [begins[end["id"]]["ts"] for end in to_other] == [29.999]


def two_devices():
    """Run metadata in which an operation of one device reads from another."""
    metadata = traced(("a = Const()", 1000, 5))
    metadata.step_stats.dev_stats.extend(
        traced(("b = Neg(a)", 1010, 5), device="/device:CPU:1").step_stats.dev_stats
    )
    for device in metadata.step_stats.dev_stats:
        memory = device.node_stats[0].output.add().tensor_description.allocation_description
        memory.requested_bytes, memory.allocator_name = 64, "cpu"
    return metadata


def select_phases(trace):
    return {event["ph"] for event in checked(trace)}


def test_dataflow_and_memory_are_drawn_on_request():
    assert {"s", "f"} <= select_phases(chrome_trace(two_devices()))
    assert not {"s", "f"} & select_phases(chrome_trace(two_devices(), dataflow=False))
    assert not {"C", "N", "O", "D"} & select_phases(chrome_trace(two_devices()))
    events = checked(chrome_trace(two_devices(), memory=True))
    assert {"C", "N", "O", "D"} <= {event["ph"] for event in events}
    curve = [event["args"]["cpu"] for event in in_phase(events, "C")]
    assert curve == [64, 128, 64, 0]
    snapshot = in_phase(events, "O")[0]["args"]["snapshot"]
    assert snapshot == {"bytes": 64, "allocator": "cpu", "shape": [], "dtype": 0}
    metadata = traced(("a = Op()", 1000, 5))
    used = metadata.step_stats.dev_stats[0].node_stats[0].memory.add(allocator_name="cpu")
    for time, size in ((1001, 70), (1002, 30), (1004, -70)):
        used.allocation_records.add(alloc_micros=time, alloc_bytes=size)
    events = checked(chrome_trace(metadata, memory=True))
    curve = [(event["ts"], event["args"]["cpu"]) for event in in_phase(events, "C")]
    assert curve == [(1, 70), (2, 100), (4, 30)]


def test_servers_and_repeated_devices_have_one_row():
    metadata = two_devices()
    metadata.step_stats.dev_stats.extend(traced(("c = Neg(a)", 1020, 5)).step_stats.dev_stats)
    events = checked(chrome_trace(metadata))
    assert list(rows(events)) == ["/device:CPU:0 Compute", "/device:CPU:1 Compute"]
    by_name = {bar["args"]["name"]: row for row, bar in select_bars(events)}
    assert by_name["a"] == by_name["c"] != by_name["b"]
    server = tf.train.Server.create_local_server()
    metadata = tf.RunMetadata()
    with tf.Graph().as_default():
        doubled = 2 * tf.random_uniform([3])
        with tf.Session(server.target) as session:
            session.run(doubled, options=run_options(session.sess_str), run_metadata=metadata)
    events = checked(chrome_trace(metadata, memory=True))
    assert "/job:localhost/replica:0/task:0/device:CPU:0 Compute" in rows(events)
    assert "RandomUniform" in {bar["name"] for bar in in_phase(events, "X")}


def test_a_received_tensor_has_its_source_and_an_arrow_from_its_producer():
    metadata = traced(("c2/w/read = Identity(c2/w)", 1000, 5), device=PS)
    received = metadata.step_stats.dev_stats.add(device=WORKER).node_stats.add(
        node_name="RecvTensor",
        timeline_label=f"[0B] [0.000000Mb/s] edge_16_c2/w/read from {PS} to {WORKER}",
        all_start_micros=1010,
        all_end_rel_micros=20,
    )
    received.output.add().tensor_description.allocation_description.requested_bytes = 12
    events = checked(chrome_trace(metadata))
    (args,) = (bar["args"] for row, bar in select_bars(events) if row == f"{WORKER} Compute")
    assert args == {
        "name": "RecvTensor",
        "op": "RecvTensor",
        "tensor": "c2/w/read",
        "source": PS,
        "destination": WORKER,
        "bytes": 12,
    }
    assert select_arrows(events) == {
        (f"{PS} Compute", "c2/w/read", f"{WORKER} Compute", "RecvTensor")
    }
