import numpy as np
import pytest
import tensorflow.compat.v1 as tf
from google.protobuf import text_format

from acting_hooks import Listener
from slow_cases import slow_but
from tf_frame.checkpoint.find.newest import listed_checkpoints, read_step
from tf_frame.hooks.stock.checkpoint_saver import CheckpointSaverHook
from tf_frame.testing.session_runs import counted_runs

BOTH = [tf.train.CheckpointSaverHook, CheckpointSaverHook]


@pytest.fixture
def train(tmp_path):
    """Trains a graph of its own in TensorFlow's session; returns the steps that were run."""

    def train(make, *, to, folder="", each=lambda: None, saver=None, **options):
        folder = tmp_path / folder if folder else tmp_path / make.__module__
        steps = []
        with tf.Graph().as_default():
            weights = tf.get_variable("weights", [2], initializer=tf.ones_initializer())
            step = tf.train.create_global_step()
            train_op = tf.group(weights.assign_add([1.0, 1.0]), step.assign_add(1))
            scaffold = tf.train.Scaffold(saver=tf.train.Saver(save_relative_paths=True))
            hook = make(str(folder), scaffold=scaffold, **options)
            stop = tf.train.StopAtStepHook(last_step=to)
            with tf.train.MonitoredTrainingSession(
                checkpoint_dir=str(folder),
                scaffold=scaffold,
                hooks=[hook, stop],
                save_checkpoint_secs=None,
                save_checkpoint_steps=None,
                save_summaries_steps=None,
                save_summaries_secs=None,
                log_step_count_steps=None,
            ) as session:
                while not session.should_stop():
                    session.run(train_op)
                    steps.append(1)
                    each()
        return folder, len(steps)

    return train


@pytest.mark.parametrize("savers", [0, 2])
def test_without_a_saver_there_must_be_just_one_in_the_collection(tmp_path, savers):
    texts = []
    for make in BOTH:
        with tf.Graph().as_default(), tf.Session() as session:
            session.run(tf.train.create_global_step().initializer)
            for _ in range(savers):
                tf.add_to_collection(tf.GraphKeys.SAVERS, tf.train.Saver())
            hook = make(str(tmp_path), save_steps=1)
            hook.begin()
            with pytest.raises(RuntimeError) as error:
                hook.after_create_session(session, None)
        texts.append(str(error.value).replace("['savers']", "savers"))
    assert texts[0] == texts[1]


def test_the_only_saver_of_the_collection_is_taken(tmp_path):
    with tf.Graph().as_default(), tf.Session() as session:
        session.run(tf.train.create_global_step().initializer)
        tf.add_to_collection(tf.GraphKeys.SAVERS, tf.train.Saver())
        hook = CheckpointSaverHook(str(tmp_path), save_steps=1)
        hook.begin()
        hook.after_create_session(session, None)
    assert tf.train.latest_checkpoint(str(tmp_path)) == str(tmp_path / "model.ckpt-0")


@pytest.mark.usefixtures("variable_mode")
@pytest.mark.parametrize("last_step", slow_but(1, [1, 6, 7]))
def test_steps_files_and_calls_are_those_of_tensorflow(train, last_step):
    folders, calls = [], []
    for make in BOTH:
        listener = Listener()
        folder, steps = train(make, to=last_step, save_steps=3, listeners=[listener])
        assert steps == last_step
        folders.append(folder)
        calls.append(listener.calls)
    assert calls[0] == calls[1]
    names = [
        sorted(path.name for path in folder.iterdir() if "tfevents" not in path.name)
        for folder in folders
    ]
    assert names[0] == names[1]
    graphs = [text_format.Parse((f / "graph.pbtxt").read_text(), tf.GraphDef()) for f in folders]
    assert [node.name for node in graphs[0].node] == [node.name for node in graphs[1].node]
    assert f"model.ckpt-{last_step}.meta" in names[1]
    assert (folders[0] / "checkpoint").read_text() == (folders[1] / "checkpoint").read_text()
    for path in listed_checkpoints(str(folders[1])):
        assert read_step(path) == int(path.rsplit("-")[-1])
        assert tf.train.load_variable(path, "weights").tolist() == [1.0 + read_step(path)] * 2


def test_the_events_are_those_of_tensorflow(train):
    kinds = []
    for make in BOTH:
        folder, _ = train(make, to=4, save_steps=3)
        tf.summary.FileWriterCache.clear()
        (path,) = folder.glob("events.out.*")
        events = list(tf.train.summary_iterator(str(path)))
        kinds.append([(e.WhichOneof("what"), e.step, e.session_log.status) for e in events])
    assert kinds[0] == kinds[1]
    assert ("session_log", 3, tf.SessionLog.CHECKPOINT) in kinds[1]


def test_the_graph_may_be_left_out_and_the_files_have_another_name(train):
    options = {"save_graph_def": False, "checkpoint_basename": "other"}
    folder, _ = train(CheckpointSaverHook, to=3, save_steps=3, **options)
    assert not list(folder.glob("*.meta"))
    assert not (folder / "graph.pbtxt").exists()
    assert tf.train.latest_checkpoint(str(folder)) == str(folder / "other-3")


def test_a_listener_may_stop_training(train):
    assert [
        train(make, to=20, save_steps=3, listeners=[Listener(stop_after=6)])[1] for make in BOTH
    ] == [6, 6]


@pytest.mark.slow
def test_a_resumed_run_saves_the_steps_that_tensorflow_saves(train):
    saved = []
    for make in BOTH:
        listener = Listener()
        train(make, to=2, save_steps=3)
        train(make, to=8, save_steps=3, listeners=[listener])
        saved.append(listener.calls)
    assert saved[0] == saved[1]
    assert ("", "before_save", 5) in saved[1]


def test_by_seconds_it_saves_what_is_late_enough(train, clock):
    durations = iter([9, 2, 5, 10, 1, 1])

    def pass_time():
        clock.now += next(durations)

    folder, _ = train(CheckpointSaverHook, to=6, save_secs=10, each=pass_time)
    assert [read_step(path) for path in listed_checkpoints(str(folder))] == [0, 3, 5, 6]


def test_tensorflow_runs_the_session_twice_in_every_step_and_this_hook_does_not(train):
    counts = []
    for make in BOTH:
        so_far = []
        with counted_runs() as count:
            train(make, to=9, save_steps=100, each=lambda: so_far.append(count.runs))  # noqa: B023
        # Before the last steps, at which TensorFlow's StopAtStepHook runs it once more too.
        counts.append(np.diff(so_far)[:6].tolist())
    assert counts == [[2] * 6, [1] * 6]


def test_a_run_that_is_no_step_saves_nothing(tmp_path):
    with tf.Graph().as_default():
        step = tf.train.create_global_step()
        train_op, nothing = step.assign_add(1), tf.no_op()
        listener = Listener()
        hook = CheckpointSaverHook(
            str(tmp_path), save_steps=2, saver=tf.train.Saver(), listeners=[listener]
        )
        with tf.train.MonitoredSession(hooks=[hook]) as session:
            for op in (train_op, nothing, nothing, train_op, nothing, train_op):
                session.run(op)
    assert [step for _, name, step in listener.calls if name == "before_save"] == [0, 2, 3]
