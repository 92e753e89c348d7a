import pytest
import tensorflow.compat.v1 as tf

from tf_frame.hooks.checkpoint import CheckpointHook
from tf_frame.hooks.summary import SummaryHook


def hook_of(folder, graph, every_steps):
    return SummaryHook(str(folder), graph.summary_op, every_steps=every_steps)


def events_of(folder):
    """Every event in the one event file of the folder."""
    tf.summary.FileWriterCache.clear()
    (file,) = folder.glob("events.out.tfevents.*")
    return list(tf.train.summary_iterator(str(file)))


def steps_of(events):
    return [event.step for event in events if event.HasField("summary")]


@pytest.mark.usefixtures("variable_mode")
def test_the_first_step_and_every_nth_from_there_are_written(tmp_path, build, train):
    graph = build()
    train(graph, [hook_of(tmp_path, graph, 3)], to=8)
    assert steps_of(events_of(tmp_path)) == [1, 4, 7]


def test_losses_and_learning_rate_are_written(tmp_path, build, train):
    graph = build(l2=0.5)
    train(graph, [hook_of(tmp_path, graph, 1)], to=1)
    (summary,) = (e.summary for e in events_of(tmp_path) if e.HasField("summary"))
    values = {value.tag: value.simple_value for value in summary.value}
    assert values.keys() == {
        "losses/total",
        "losses/data",
        "losses/regularization",
        "optimizer/learning_rate",
    }
    assert values["optimizer/learning_rate"] == pytest.approx(0.05)
    assert values["losses/total"] > 1


def test_the_value_is_that_of_the_step(tmp_path, build, train):
    graph, losses = build(), []
    with graph.graph.as_default():
        train_loss = Losses(graph.train_op)
    train(graph, [hook_of(tmp_path, graph, 1), train_loss], to=3)
    events = [event for event in events_of(tmp_path) if event.HasField("summary")]
    for event in events:
        losses += [v.simple_value for v in event.summary.value if v.tag == "losses/total"]
    assert losses == pytest.approx(train_loss.values)
    assert len(set(losses)) == 3


class Losses(tf.train.SessionRunHook):
    def __init__(self, loss):
        self.loss, self.values = loss, []

    def before_run(self, run_context):
        return tf.train.SessionRunArgs(self.loss)

    def after_run(self, run_context, run_values):
        self.values.append(float(run_values.results))


def test_the_graph_is_written_once(tmp_path, build, train):
    graph = build()
    train(graph, [hook_of(tmp_path, graph, 1)], to=3)
    graphs = [event.graph_def for event in events_of(tmp_path) if event.HasField("graph_def")]
    assert len(graphs) == 1
    assert "linear/weights" in {node.name for node in tf.GraphDef.FromString(graphs[0]).node}


def test_a_resumed_run_tells_tensorboard_where_it_starts_and_writes_its_first_step(
    tmp_path, build, train
):
    events = []
    for last_step in (4, 9):
        graph = build()
        save = CheckpointHook(str(tmp_path), graph.scaffold, every_steps=100)
        train(graph, [hook_of(tmp_path, graph, 3), save], to=last_step)
        events += events_of(tmp_path)
        # Two event files of one second would have the same name.
        next(tmp_path.glob("events.out.tfevents.*")).unlink()
    starts = [e.step for e in events if e.session_log.status == tf.SessionLog.START]
    assert starts == [1, 5]
    assert steps_of(events) == [1, 4, 5, 8]


def test_the_summary_op_is_not_run_between(tmp_path, build, train):
    graph, runs = build(), []
    with graph.graph.as_default():
        counted = tf.numpy_function(
            lambda summary: runs.append(1) or summary, [graph.summary_op], tf.string
        )
    hook = SummaryHook(str(tmp_path), counted, every_steps=5)
    train(graph, [hook], to=9)
    assert len(runs) == 2
