import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from acting_hooks import Lose
from tf_frame.hooks.summary import SummaryHook, cached_writer, event_writer
from tf_frame.testing.events import read_events


def make_hook(folder, graph, every_steps):
    return SummaryHook(str(folder), graph.summary_op, every_steps=every_steps)


def summary_steps(events):
    return [event.step for event in events if event.HasField("summary")]


def graph_events(events):
    return [event.graph_def for event in events if event.HasField("graph_def")]


def test_losses_and_learning_rate_are_written(tmp_path, build, train):
    graph = build(l2=0.5)
    train(graph, [make_hook(tmp_path, graph, 1)], to=1)
    (summary,) = (e.summary for e in read_events(tmp_path) if e.HasField("summary"))
    values = {value.tag: value.simple_value for value in summary.value}
    assert values.keys() == {
        "losses/total_loss",
        "losses/loss",
        "losses/regularization_loss",
        "optimizer/learning_rate",
    }
    assert values["optimizer/learning_rate"] == pytest.approx(0.05)
    assert values["losses/total_loss"] > 1


def test_images_histograms_and_scalars_of_the_op_are_written(tmp_path, build, train):
    graph, values = build(), np.arange(10.0)
    with graph.graph.as_default():
        step = tf.cast(graph.step_after, tf.float32)
        merged = tf.summary.merge(
            [
                tf.summary.scalar("scalar", step * 2),
                tf.summary.histogram("histogram", tf.stack([step, step + 3])),
                tf.summary.histogram("constant", tf.constant(values)),
                tf.summary.image("image", tf.zeros([1, 4, 6, 3])),
            ]
        )
    train(graph, [SummaryHook(str(tmp_path), merged, every_steps=5)], to=4)
    (event,) = (e for e in read_events(tmp_path) if e.HasField("summary"))
    scalar, histogram, constant, image = event.summary.value
    histo = constant.histo
    assert (histo.num, histo.sum, histo.sum_squares) == (10, values.sum(), (values**2).sum())
    assert (scalar.tag, scalar.simple_value) == ("scalar", 2.0)
    assert (histogram.tag, histogram.histo.min, histogram.histo.max) == ("histogram", 1.0, 4.0)
    assert image.tag == "image/image/0"
    assert (image.image.height, image.image.width) == (4, 6)


def test_the_value_is_that_of_the_step(tmp_path, build, train):
    graph, losses = build(), []
    with graph.graph.as_default():
        train_loss = Losses(graph.train_op)
    train(graph, [make_hook(tmp_path, graph, 1), train_loss], to=3)
    # The writer is still open; the end of the session has flushed its file.
    (file,) = tmp_path.glob("events.out.tfevents.*")
    events = [e for e in tf.train.summary_iterator(str(file)) if e.HasField("summary")]
    assert [event.step for event in events] == [1, 2, 3]
    for event in events:
        losses += [v.simple_value for v in event.summary.value if v.tag == "losses/loss"]
    assert losses == pytest.approx(train_loss.values)
    assert len(set(losses)) == 3


class Losses(tf.train.SessionRunHook):
    def __init__(self, loss):
        self.loss, self.values = loss, []

    def before_run(self, run_context):
        return tf.train.SessionRunArgs(self.loss)

    def after_run(self, run_context, run_values):
        self.values.append(float(run_values.results))


def test_the_graph_is_written_once_by_two_hooks_and_after_a_lost_session(tmp_path, build, train):
    graph = build()
    hooks = [make_hook(tmp_path, graph, every) for every in (1, 2)]
    train(graph, [*hooks, Lose(after=3)], to=4, save_every=2)
    events = read_events(tmp_path)
    (graph_def,) = graph_events(events)
    nodes = {node.name: node for node in tf.GraphDef.FromString(graph_def).node}
    (shape,) = nodes["linear/weights"].attr["_output_shapes"].list.shape
    assert tf.TensorShape(shape) == []
    assert not any(event.HasField("meta_graph_def") for event in events)
    starts = [e.step for e in events if e.session_log.status == tf.SessionLog.START]
    assert starts == [1, 1, 3, 3]


@pytest.mark.parametrize("end", ["flush", "close"])
def test_the_graph_is_that_of_the_call_and_complete_when_the_writer_is_flushed(tmp_path, end):
    with tf.Graph().as_default():
        tf.zeros([2, 3], name="before")
        writer = event_writer(str(tmp_path))
        tf.zeros([], name="after")
        getattr(writer, end)()
    (graph_def,) = graph_events(read_events(tmp_path))
    (node,) = tf.GraphDef.FromString(graph_def).node
    (shape,) = node.attr["_output_shapes"].list.shape
    assert (node.name, tf.TensorShape(shape)) == ("before", [2, 3])


def test_phases_have_folders_of_their_own(tmp_path, build, train):
    graph = build()
    with graph.graph.as_default():
        other = tf.summary.scalar("other", graph.learning_rate)
    hooks = [
        make_hook(tmp_path, graph, 4),
        SummaryHook(str(tmp_path), other, every_steps=2, name="eval"),
    ]
    train(graph, hooks, to=5)
    assert summary_steps(read_events(tmp_path)) == [1, 4]
    events = read_events(tmp_path / "eval")
    assert summary_steps(events) == [1, 2, 4]
    assert {v.tag for e in events for v in e.summary.value} == {"other"}
    assert len(graph_events(events)) == 1


@pytest.mark.slow
def test_a_resumed_run_tells_tensorboard_where_it_starts_and_writes_its_first_step(
    tmp_path, build, train
):
    for last_step in (4, 9):
        graph = build()
        train(graph, [make_hook(tmp_path, graph, 3)], to=last_step, save_every=100)
        # As in a new process: its writer is another.
        tf.summary.FileWriterCache.clear()
    events = read_events(tmp_path)
    starts = [e.step for e in events if e.session_log.status == tf.SessionLog.START]
    assert starts == [1, 5]
    assert summary_steps(events) == [1, 3, 5, 6, 9]
    assert len(graph_events(events)) == 2


def test_the_summary_op_is_not_run_between(tmp_path, build, train):
    graph, runs = build(), []
    with graph.graph.as_default():
        counted = tf.numpy_function(
            lambda summary: runs.append(1) or summary, [graph.summary_op], tf.string
        )
    hook = SummaryHook(str(tmp_path), counted, every_steps=5)
    train(graph, [hook], to=9)
    assert len(runs) == 2


@pytest.mark.parametrize(
    ("folder", "options", "message"),
    [
        (None, {"every_steps": 1}, "summaries need a folder to go to"),
        ("", {"every_steps": 1}, "summaries need a folder to go to"),
        ("folder", {}, "give every_steps, every_secs or both"),
    ],
)
def test_a_hook_needs_a_folder_and_a_number(folder, options, message):
    with pytest.raises(ValueError, match=message):
        SummaryHook(folder, None, **options)


def write(folder, step):
    value = tf.Summary.Value(tag="a", simple_value=step)
    event_writer(folder).add_summary(tf.Summary(value=[value]), step)


def write_cached(folder, step):
    value = tf.Summary.Value(tag="a", simple_value=step)
    cached_writer(folder).add_summary(tf.Summary(value=[value]), step)


@pytest.mark.parametrize("write", [write, write_cached])
def test_writers_of_one_second_do_not_overwrite_each_other(tmp_path, write):
    with tf.Graph().as_default():
        for step in range(5):
            write(str(tmp_path), step)
            tf.summary.FileWriterCache.clear()
    assert len(list(tmp_path.glob("events.out.tfevents.*"))) == 5
    assert sorted(summary_steps(read_events(tmp_path))) == [0, 1, 2, 3, 4]


def test_all_who_write_to_a_folder_share_its_writer(tmp_path):
    with tf.Graph().as_default():
        writer = event_writer(str(tmp_path))
        assert event_writer(str(tmp_path)) is writer
        assert tf.summary.FileWriterCache.get(str(tmp_path)) is writer
        stock = tf.summary.FileWriterCache.get(str(tmp_path / "eval"))
        assert event_writer(str(tmp_path / "eval")) is stock


class Full:
    """A writer of TensorFlow on a full disk."""

    def __init__(self):
        self.calls = 0

    def add_event(self, event):
        self.calls += 1

    def flush(self):
        raise RuntimeError("events.out; No space left on device")

    def close(self):
        self.flush()


def test_a_full_disk_is_one_warning_and_no_error(tmp_path, monkeypatch):
    monkeypatch.setattr("tf_frame.hooks.summary._FLUSH_SECS", 0.0)
    lines = []
    with tf.Graph().as_default():
        writer = event_writer(str(tmp_path), report=lines.append)
    full = writer.event_writer._writer = Full()
    for step in range(3):
        write(str(tmp_path), step)
    writer.flush()
    writer.close()
    assert lines == [
        f"warning: summaries cannot be written to {tmp_path}: events.out; No space left on device; "
        "training goes on without them; free space there for the next checkpoint"
    ]
    assert full.calls == 1


def test_without_anyone_to_tell_the_log_has_the_warning(tmp_path, caplog):
    with tf.Graph().as_default():
        writer = event_writer(str(tmp_path))
    writer.event_writer._writer = Full()
    writer.flush()
    assert "summaries cannot be written" in caplog.text
