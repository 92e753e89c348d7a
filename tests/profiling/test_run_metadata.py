import gzip

import pytest
import tensorflow as tf2
import tensorflow.compat.v1 as tf

from tf_frame.profiling.run_metadata import add_run_metadata, run_options, write_trace
from tf_frame.testing.events import read_events


def operations(session, fetch):
    metadata = tf.RunMetadata()
    session.run(fetch, options=run_options(session.sess_str), run_metadata=metadata)
    return sum(len(dev.node_stats) for dev in metadata.step_stats.dev_stats)


def test_runs_return_their_operations_also_while_another_profiler_runs(small_graph, tmp_path):
    session, train_op, _ = small_graph
    assert operations(session, train_op) > 5
    tf2.profiler.experimental.start(str(tmp_path))
    try:
        assert operations(session, train_op) > 5
    finally:
        tf2.profiler.experimental.stop(save=False)
    server = tf.train.Server.create_local_server()
    with tf.Graph().as_default():
        doubled = 2 * tf.random_uniform([3])
        with tf.Session(server.target) as session:
            assert operations(session, doubled) > 1


def metadata_in(folder):
    return [event for event in read_events(folder) if event.HasField("tagged_run_metadata")]


@pytest.mark.usefixtures("graph")
def test_run_metadata_is_written_under_unique_tags(tmp_path):
    writer = tf.summary.FileWriter(str(tmp_path))
    metadata = tf.RunMetadata()
    metadata.step_stats.dev_stats.add(device="CPU")
    assert add_run_metadata(writer, metadata, "step_7", 7) == "step_7"
    writer.close()
    (event,) = metadata_in(tmp_path)
    assert (event.tagged_run_metadata.tag, event.step) == ("step_7", 7)
    assert tf.RunMetadata.FromString(event.tagged_run_metadata.run_metadata) == metadata
    writer = tf.summary.FileWriter(str(tmp_path))
    tags = [add_run_metadata(writer, tf.RunMetadata(), "step_7") for _ in range(3)]
    writer.close()
    assert tags == ["step_7", "step_7_2", "step_7_3"]
    assert [event.tagged_run_metadata.tag for event in metadata_in(tmp_path)] == tags
    assert {event.step for event in metadata_in(tmp_path)} == {0}


def test_traces_are_written_compressed_and_into_missing_folders(tmp_path, monkeypatch):
    write_trace(str(tmp_path / "a" / "b.json"), '{"traceEvents":[]}')
    assert (tmp_path / "a" / "b.json").read_text() == '{"traceEvents":[]}'
    write_trace(str(tmp_path / "b.json.gz"), '{"traceEvents":[]}')
    assert gzip.decompress((tmp_path / "b.json.gz").read_bytes()) == b'{"traceEvents":[]}'
    monkeypatch.chdir(tmp_path)
    write_trace("b.json", "{}")
    assert (tmp_path / "b.json").read_text() == "{}"
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
