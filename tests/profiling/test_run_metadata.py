import gzip
import json

import pytest
import tensorflow.compat.v1 as tf

from tf_frame.profiling.run_metadata import (
    add_run_metadata,
    chrome_trace,
    run_options,
    write_trace,
)


@pytest.fixture
def graph():
    with tf.Graph().as_default():
        yield


@pytest.fixture
def profiling(tmp_path):
    """Another profiler at work in this process."""
    import tensorflow

    tensorflow.profiler.experimental.start(str(tmp_path))
    yield
    tensorflow.profiler.experimental.stop(save=False)


def operations(session, fetch):
    metadata = tf.RunMetadata()
    session.run(fetch, options=run_options(session.sess_str), run_metadata=metadata)
    return sum(len(dev.node_stats) for dev in metadata.step_stats.dev_stats)


def test_a_run_of_this_process_returns_its_operations(small_graph):
    session, train_op, _ = small_graph
    assert operations(session, train_op) > 5


@pytest.mark.usefixtures("profiling")
def test_a_run_of_this_process_works_while_another_profiler_is_at_work(small_graph):
    session, train_op, _ = small_graph
    assert operations(session, train_op) > 5


def test_a_run_of_a_server_returns_its_operations():
    server = tf.train.Server.create_local_server()
    with tf.Graph().as_default():
        doubled = 2 * tf.random_uniform([3])
        with tf.Session(server.target) as session:
            assert operations(session, doubled) > 1


def events_of(folder):
    (file,) = folder.glob("events.out.tfevents.*")
    events = tf.train.summary_iterator(str(file))
    return [event for event in events if event.HasField("tagged_run_metadata")]


@pytest.mark.usefixtures("graph")
def test_run_metadata_is_written_under_its_tag_and_step(tmp_path):
    writer = tf.summary.FileWriter(str(tmp_path))
    metadata = tf.RunMetadata()
    metadata.step_stats.dev_stats.add(device="CPU")
    assert add_run_metadata(writer, metadata, "step_7", 7) == "step_7"
    writer.close()
    (event,) = events_of(tmp_path)
    assert (event.tagged_run_metadata.tag, event.step) == ("step_7", 7)
    assert tf.RunMetadata.FromString(event.tagged_run_metadata.run_metadata) == metadata


@pytest.mark.usefixtures("graph")
def test_a_tag_that_is_taken_gets_a_number(tmp_path):
    writer = tf.summary.FileWriter(str(tmp_path))
    tags = [add_run_metadata(writer, tf.RunMetadata(), "step_7") for _ in range(3)]
    writer.close()
    assert tags == ["step_7", "step_7_2", "step_7_3"]
    assert [event.tagged_run_metadata.tag for event in events_of(tmp_path)] == tags
    assert {event.step for event in events_of(tmp_path)} == {0}


def check(trace):
    """Asserts what every event needs; returns the events."""
    events = json.loads(trace)["traceEvents"]
    for event in events:
        assert {"ph", "pid", "tid", "ts"} <= event.keys(), event
        assert event["ph"] != "X" or event["dur"] > 0, event
    return events


def kinds_of(trace):
    return {event["ph"] for event in check(trace)}


@pytest.fixture
def metadata(small_graph):
    session, train_op, _ = small_graph
    metadata = tf.RunMetadata()
    session.run(train_op, options=run_options(), run_metadata=metadata)
    return metadata


def test_the_operations_of_the_step_are_there(metadata):
    bars = [event for event in check(chrome_trace(metadata)) if event["ph"] == "X"]
    assert "ResourceApplyGradientDescent" in {bar["name"] for bar in bars}
    assert len(bars) == sum(len(dev.node_stats) for dev in metadata.step_stats.dev_stats)


def test_a_row_is_named_after_its_device(metadata):
    named = [event for event in check(chrome_trace(metadata)) if event["ph"] == "M"]
    names = [event["args"]["name"] for event in named]
    assert "/job:localhost/replica:0/task:0/device:CPU:0 Compute" in names


def test_it_is_one_line(metadata):
    assert "\n" not in chrome_trace(metadata)


def test_what_takes_no_time_is_a_microsecond_long():
    metadata = tf.RunMetadata()
    device = metadata.step_stats.dev_stats.add(device="/job:a/device:CPU:0")
    for duration in (0, 7):
        device.node_stats.add(
            node_name=f"n{duration}",
            timeline_label=f"n{duration} = Add(x, y)",
            all_start_micros=1000,
            all_end_rel_micros=duration,
        )
    bars = [event for event in check(chrome_trace(metadata)) if event["ph"] == "X"]
    assert {bar["args"]["name"]: bar["dur"] for bar in bars} == {"n0": 1, "n7": 7}


def two_devices():
    """Run metadata in which an operation of one device reads from another."""
    metadata = tf.RunMetadata()
    for number, label in enumerate(["a = Const()", "b = Neg(a)"]):
        device = metadata.step_stats.dev_stats.add(device=f"/device:CPU:{number}")
        node = device.node_stats.add(
            node_name=label[0],
            timeline_label=label,
            all_start_micros=1000 + 10 * number,
            all_end_rel_micros=5,
        )
        tensor = node.output.add().tensor_description
        tensor.allocation_description.requested_bytes = 64
        tensor.allocation_description.allocator_name = "cpu"
    return metadata


def test_dataflow_is_drawn_as_arrows_unless_it_is_not_wanted():
    arrows = {"s", "t"}
    assert arrows <= kinds_of(chrome_trace(two_devices()))
    assert not arrows & kinds_of(chrome_trace(two_devices(), dataflow=False))


def test_memory_is_drawn_as_tensors_and_a_curve_if_it_is_wanted():
    assert not {"C", "N", "O", "D"} & kinds_of(chrome_trace(two_devices()))
    trace = chrome_trace(two_devices(), memory=True)
    assert {"C", "N", "O", "D"} <= kinds_of(trace)
    curve = [event["args"]["cpu"] for event in check(trace) if event["ph"] == "C"]
    assert curve == [64, 128, 64, 0]


def test_a_device_that_is_listed_twice_has_one_row():
    metadata = two_devices()
    metadata.step_stats.dev_stats.add(device="/device:CPU:0").node_stats.add(
        node_name="c", timeline_label="c = Neg(a)", all_start_micros=1020, all_end_rel_micros=5
    )
    events = check(chrome_trace(metadata))
    rows = [event["args"]["name"] for event in events if event["ph"] == "M"]
    assert rows.count("/device:CPU:0 Compute") == 1
    pids = {event["args"]["name"]: event["pid"] for event in events if event["ph"] == "X"}
    assert pids["a"] == pids["c"] != pids["b"]


def test_the_run_metadata_is_left_as_it_is(metadata):
    before = metadata.SerializeToString()
    chrome_trace(metadata, memory=True)
    assert metadata.SerializeToString() == before


def test_a_trace_is_written_into_folders_that_are_missing(tmp_path):
    write_trace(str(tmp_path / "a" / "b.json"), '{"traceEvents":[]}')
    assert (tmp_path / "a" / "b.json").read_text() == '{"traceEvents":[]}'


def test_a_path_that_ends_in_gz_is_written_compressed(tmp_path):
    write_trace(str(tmp_path / "b.json.gz"), '{"traceEvents":[]}')
    assert gzip.decompress((tmp_path / "b.json.gz").read_bytes()) == b'{"traceEvents":[]}'


def test_a_bare_file_name_is_in_the_current_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_trace("b.json", "{}")
    assert (tmp_path / "b.json").read_text() == "{}"


def test_a_folder_that_cannot_be_made_is_an_error(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(tf.errors.OpError):
        write_trace(str(tmp_path / "file" / "b.json"), "{}")


def test_a_chrome_trace_that_cannot_be_written_leaves_nothing_behind(
    tmp_path, monkeypatch, full_after_half
):
    monkeypatch.setattr(tf.io.gfile, "GFile", full_after_half)
    with pytest.raises(tf.errors.ResourceExhaustedError):
        write_trace(str(tmp_path / "trace.json"), "{}")
    assert list(tmp_path.iterdir()) == []
