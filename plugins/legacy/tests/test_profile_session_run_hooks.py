import json
import logging

import pytest
import tensorflow as tf2
import tensorflow.compat.v1 as tf

from event_files import events
from tf_frame.graph.global_step import read_step_after
from tf_frame.hooks.cadence import NEVER
from tf_frame_legacy.profile_session_run_hooks import ProfileAtStepHook


@pytest.fixture(autouse=True)
def closed_writers():
    yield
    tf.summary.FileWriterCache.clear()


@pytest.fixture
def train(graph):
    """Runs so many steps of a small graph with hooks, in a session of TensorFlow's own."""
    step = tf.train.create_global_step()
    weights = tf.get_variable("weights", [20, 20])
    loss = tf.reduce_mean(tf.square(weights))
    train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, global_step=step)
    read_step_after([train_op], step)

    def train(hooks, *, steps, start=0):
        scaffold = tf.train.Scaffold(init_fn=lambda _, session: step.load(start, session))
        creator = tf.train.ChiefSessionCreator(scaffold)
        with tf.train.MonitoredSession(creator, hooks=hooks) as session:
            for _ in range(steps):
                session.run(train_op)

    return train


def written(folder):
    """Names of the Chrome traces; tag and step of each run metadata."""
    traced = [event for event in events(folder) if event.HasField("tagged_run_metadata")]
    return (
        sorted(path.name for path in folder.glob("*.json")),
        [(event.tagged_run_metadata.tag, event.step) for event in traced],
    )


def test_the_step_after_at_step_is_traced_under_its_own_number(tmp_path, train, monkeypatch):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    train([ProfileAtStepHook(3, str(tmp_path))], steps=8)
    assert written(tmp_path) == (["timeline-4.json"], [("trace_4", 4)])
    assert not list((tmp_path / "here").iterdir())
    events = json.loads((tmp_path / "timeline-4.json").read_text())["traceEvents"]
    assert all({"ph", "pid", "tid", "ts"} <= event.keys() for event in events)
    assert any("GradientDescent" in event["name"] for event in events)


@pytest.mark.parametrize(
    ("at_step", "steps", "start", "traced"),
    [
        (0, 3, 0, [1]),
        # The run ends before the step.
        (3, 3, 0, []),
        # A resumed run traces a step that was not reached.
        *((3, 4, start, traced) for start, traced in [(2, [4]), (3, [4]), (4, []), (9, [])]),
    ],
)
def test_the_traced_step(tmp_path, train, at_step, steps, start, traced):
    train([ProfileAtStepHook(at_step, str(tmp_path))], steps=steps, start=start)
    names, tags = [f"timeline-{n}.json" for n in traced], [(f"trace_{n}", n) for n in traced]
    assert written(tmp_path) == (names, tags)


def test_a_step_that_is_passed_over_is_made_up_for_once():
    cadence = ProfileAtStepHook(3, "folder").cadence
    assert not cadence.wants(3)
    assert cadence.wants(7)
    cadence.mark(7)
    assert cadence.next_step() == NEVER


def test_without_a_step_nothing_is_traced(train, tmp_path):
    hook = ProfileAtStepHook()
    assert hook.cadence.next_step() == NEVER
    train([hook], steps=2)


def test_two_hooks_may_want_the_same_step_and_several_steps(tmp_path, train):
    hooks = [ProfileAtStepHook(at_step, str(tmp_path)) for at_step in (1, 3, 3)]
    train(hooks, steps=5)
    files, tags = written(tmp_path)
    assert files == ["timeline-2.json", "timeline-4.json"]
    assert tags == [("trace_2", 2), ("trace_4", 4), ("trace_4_2", 4)]


def test_another_profiler_does_not_fail_the_step(tmp_path, train):
    tf2.profiler.experimental.start(str(tmp_path / "other"))
    try:
        train([ProfileAtStepHook(1, str(tmp_path))], steps=3)
    finally:
        tf2.profiler.experimental.stop(save=False)
    assert written(tmp_path)[0] == ["timeline-2.json"]


def test_a_trace_level_that_is_given_counts(tmp_path, train):
    levels = []

    class Levels(tf.train.SessionRunHook):
        def after_run(self, run_context, run_values):
            levels.append(run_values.options.trace_level)

    full = tf.RunOptions.FULL_TRACE
    train([ProfileAtStepHook(1, str(tmp_path), full), Levels()], steps=3)
    train([ProfileAtStepHook(0, str(tmp_path)), Levels()], steps=1)
    assert levels == [0, full, 0, tf.RunOptions.SOFTWARE_TRACE]


def test_a_folder_that_cannot_be_written_only_warns(tmp_path, train, caplog):
    (tmp_path / "file").touch()
    with caplog.at_level(logging.WARNING, "tf_frame"):
        train([ProfileAtStepHook(1, str(tmp_path / "file"))], steps=3)
    assert len([m for m in caplog.messages if "training goes on" in m]) == 2


def test_a_missing_folder_and_a_missing_global_step_are_refused(graph):
    for folder in (None, ""):
        with pytest.raises(ValueError, match="the trace needs a folder"):
            ProfileAtStepHook(3, folder)
    with pytest.raises(RuntimeError, match="Global step should be created"):
        ProfileAtStepHook(3, "folder").begin()
