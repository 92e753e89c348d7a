import pytest
import tensorflow.compat.v1 as tf

from acting_hooks import Lose
from tf_frame.hooks.stock.summary_saver import SummarySaverHook
from tf_frame.testing.events import read_events


def summary_steps(events):
    return [event.step for event in events if event.HasField("summary")]


@pytest.mark.slow
def test_a_resumed_run_writes_its_start_and_its_first_step(tmp_path, build, train):
    for last_step in (4, 7):
        graph = build()
        hook = SummarySaverHook(3, output_dir=str(tmp_path), summary_op=graph.summary_op)
        train(graph, [hook], to=last_step, save_every=100)
        tf.summary.FileWriterCache.clear()
    events = read_events(tmp_path)
    assert summary_steps(events) == [1, 4, 5]
    assert [e.step for e in events if e.session_log.status == tf.SessionLog.START] == [1, 5]


def test_the_op_of_a_scaffold_may_be_made_by_the_scaffold(tmp_path, build, train):
    graph = build()
    graph.scaffold._summary_op = None
    hook = SummarySaverHook(save_steps=2, output_dir=str(tmp_path), scaffold=graph.scaffold)
    train(graph, [hook], to=3)
    tags = {value.tag for event in read_events(tmp_path) for value in event.summary.value}
    assert "losses/loss" in tags


@pytest.mark.parametrize(("every", "has_folder", "count"), [(1, False, 0), (4, True, 2)])
def test_the_summary_op_is_run_only_where_it_is_written(
    tmp_path, build, train, every, has_folder, count
):
    graph, runs = build(), []
    with graph.graph.as_default():
        counted = tf.numpy_function(
            lambda summary: runs.append(1) or summary, [graph.summary_op], tf.string
        )
    hook = SummarySaverHook(every, None, str(tmp_path) if has_folder else None, summary_op=counted)
    train(graph, [hook], to=8)
    assert len(runs) == count
    assert bool(hook.cadence) == has_folder


def test_every_op_of_a_list_is_written_at_the_step(tmp_path, build, train):
    graph = build()
    with graph.graph.as_default():
        ops = [tf.summary.scalar("one", 1.0), tf.summary.scalar("two", 2.0)]
    train(graph, [SummarySaverHook(5, output_dir=str(tmp_path), summary_op=ops)], to=2)
    events = [event for event in read_events(tmp_path) if event.HasField("summary")]
    assert [(e.step, e.summary.value[0].tag) for e in events] == [(1, "one"), (1, "two")]


def test_what_was_written_is_on_disk_when_the_session_has_ended(tmp_path, build, train):
    graph = build()
    hook = SummarySaverHook(1, output_dir=str(tmp_path), summary_op=graph.summary_op)
    train(graph, [hook], to=3)
    (file,) = tmp_path.glob("events.out.tfevents.*")
    assert summary_steps(tf.train.summary_iterator(str(file))) == [1, 2, 3]


def test_a_session_that_is_made_anew_tells_tensorboard_where_it_starts(tmp_path, build, train):
    graph = build()
    hook = SummarySaverHook(1, output_dir=str(tmp_path), summary_op=graph.summary_op)
    train(graph, [hook, Lose(after=3)], to=3, save_every=2)
    starts = [e.step for e in read_events(tmp_path) if e.session_log.status == tf.SessionLog.START]
    assert starts == [1, 3]
