import contextlib
import json
import logging
import os

import pytest
import tensorflow as tf2
import tensorflow.compat.v1 as tf

from acting_hooks import Lose
from slow_cases import slow_but
from tf_frame.graph.global_step import read_step_after
from tf_frame.hooks.base import Phase
from tf_frame.hooks.profile import ProfileHook
from tf_frame.hooks.stock.stop_at_step import StopAtStepHook
from tf_frame.hooks.timeline import TimelineHook
from tf_frame.profiling.capture import Capture, CaptureError
from tf_frame.profiling.recorder import Facts, Recorder
from tf_frame.profiling.step_profile import read
from tf_frame.profiling.step_times import StepTimes
from tf_frame.session.loop import TrainingLoop
from tf_frame.session.schedule import Schedule
from tf_frame.testing.events import read_events
from tf_frame.testing.toy import ToyInput, ToyModel, make_setup, run_setup
from xplane import marked_steps


def find_captures(folder):
    """The marked steps of each capture, in order."""
    return sorted(marked_steps(str(path)) for path in folder.rglob("*.xplane.pb"))


def read_tags(folder):
    """The tags of run metadata in the event files of a folder, and their steps."""
    return {
        event.tagged_run_metadata.tag: event.step
        for event in read_events(folder)
        if event.HasField("tagged_run_metadata")
    }


def find_timelines(folder):
    return sorted(int(path.stem.split("-")[1]) for path in folder.glob("timeline-*.json"))


def nothing_runs():
    """Starts and stops a profile, which fails while another one runs."""
    tf2.profiler.experimental.start("")
    tf2.profiler.experimental.stop(save=False)
    return True


@pytest.fixture
def profiled(tmp_path, build, train):
    """Trains to a step with one hook of the options; returns the captured steps."""

    def profiled(to, **options):
        train(build(), [ProfileHook(str(tmp_path), **options)], to=to)
        return find_captures(tmp_path)

    return profiled


@pytest.mark.parametrize(
    ("to", "options", "captures"),
    slow_but(
        (0, 2),
        [
            (9, {"at_steps": [3], "num_steps": 4}, [[3, 4, 5, 6]]),
            (6, {"at_steps": [1, 6], "num_steps": 1}, [[1], [6]]),
            (9, {"at_steps": [2, 4, 5], "num_steps": 2}, [[2, 3, 4, 5, 6]]),
            (13, {"every_steps": 5, "num_steps": 2}, [[5, 6], [10, 11]]),
            (5, {"at_steps": [4], "num_steps": 10}, [[4, 5]]),
            (5, {"at_steps": [6]}, []),
        ],
        several=True,
    ),
)
def test_the_steps_of_the_ranges_are_captured(tmp_path, profiled, to, options, captures):
    assert profiled(to, **options) == captures
    first_steps = [steps[0] for steps in captures]
    assert find_timelines(tmp_path) == first_steps
    assert read_tags(tmp_path) == {f"profile_{step}": step for step in first_steps}
    assert bool(list(tmp_path.glob("events*"))) == bool(captures)
    assert nothing_runs()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("stopped_at", "is_written", "expected"),
    [
        (2, False, [[4, 5, 6]]),
        (3, False, [[4, 5, 6]]),
        (5, True, [[4, 5], [6]]),
        (6, True, [[4, 5, 6]]),
        (8, True, [[4, 5, 6]]),
        # A run that is killed writes nothing.
        (5, False, [[6, 7, 8]]),
        (6, False, [[7, 8, 9]]),
        (8, False, [[9]]),
    ],
)
def test_a_resumed_run_profiles_what_is_left_of_a_range(
    tmp_path, build, train, stopped_at, is_written, expected
):
    hooks = [ProfileHook(str(tmp_path), at_steps=[4], num_steps=3) for _ in range(2)]
    train(build(), hooks[:is_written], to=stopped_at, save_every=100)
    train(build(), hooks[1:], to=9)
    assert find_captures(tmp_path) == expected


def test_the_end_of_the_input_within_a_range_writes_it(tmp_path, build):
    graph = build()
    with graph.graph.as_default():
        left = tf.data.Dataset.range(3).make_one_shot_iterator().get_next()
        hook = ProfileHook(str(tmp_path), at_steps=[2], num_steps=10)
        with tf.train.MonitoredSession(hooks=[hook]) as session:
            while not session.should_stop():
                session.run([graph.train_op, left])
    # The run that found no more input made no step, but it was marked.
    assert find_captures(tmp_path) == [[2, 3, 4]]
    assert nothing_runs()


def test_a_step_that_fails_leaves_nothing_running_and_the_steps_before_it(tmp_path, build, train):
    hook = ProfileHook(str(tmp_path), at_steps=[2], num_steps=10)
    with pytest.raises(ValueError, match="rejected"), contextlib.closing(hook):
        train(build(), [hook, Lose(4, ValueError("rejected"), Phase.CHECK)], to=9)
    assert find_captures(tmp_path) == [[2, 3, 4]]
    assert nothing_runs()


def test_a_lost_session_writes_what_it_had_and_does_no_step_twice(tmp_path, build, train):
    hook = ProfileHook(str(tmp_path), at_steps=[2], num_steps=4)
    # Nothing is saved: the session that follows begins with step 1 again.
    lost = tf.errors.UnavailableError(None, None, "lost")
    train(build(), [hook, Lose(after=3, error=lost)], to=8)
    assert find_captures(tmp_path) == [[2, 3], [4, 5]]
    assert read_tags(tmp_path) == {"profile_2": 2, "profile_4": 4}


def test_where_other_workers_make_steps_too_a_range_ends_at_its_end(tmp_path, build):
    with (graph := build()).graph.as_default():
        another_workers_step = tf.assign_add(tf.train.get_global_step(), 1)

        def make_another_step(step_context):
            step_context.session.run(another_workers_step)

        hook = ProfileHook(str(tmp_path), at_steps=[3], num_steps=6)
        with tf.train.MonitoredSession(hooks=[hook]) as session:
            for _ in range(7):
                session.run(graph.train_op)
                session.run_step_fn(make_another_step)
    # Own runs make the steps 1, 3, 5 ...; before a run only the step after the last is known.
    assert find_captures(tmp_path) == [[4, 6, 8]]
    assert find_timelines(tmp_path) == [5]


def test_steps_outside_of_the_ranges_are_not_touched(tmp_path, build, train):
    touched = []

    class Counting(ProfileHook):
        def before_step(self, run_context, step):
            touched.append(step)
            return super().before_step(run_context, step)

    train(build(), [Counting(str(tmp_path), at_steps=[4, 8], num_steps=2)], to=12)
    assert touched == [4, 5, 8, 9]


def test_all_steps_of_a_range_are_run_in_the_same_way_and_the_first_is_traced(
    tmp_path, build, train
):
    levels = []

    class Levels(ProfileHook):
        def before_step(self, run_context, step):
            args = super().before_step(run_context, step)
            # A step that is run without options would be prepared anew.
            levels.append(args.options.trace_level)
            return args

    train(build(), [Levels(str(tmp_path), at_steps=[2], num_steps=3)], to=6)
    assert levels == [tf.RunOptions.SOFTWARE_TRACE, 0, 0]


def test_another_hook_may_trace_the_same_step(tmp_path, build, train):
    with (graph := build()).graph.as_default():
        writer = tf.summary.FileWriterCache.get(str(tmp_path))
    timeline = TimelineHook(str(tmp_path), every_steps=3, memory=True, writer=writer)
    profile = ProfileHook(str(tmp_path), at_steps=[4], num_steps=2)
    second = ProfileHook(str(tmp_path), at_steps=[4], num_steps=1)
    train(graph, [timeline, profile, second], to=7)
    tags = read_tags(tmp_path)
    assert {"run_metadata-1", "run_metadata-4", "run_metadata-7", "profile_4"} <= tags.keys()
    assert "profile_4_2" in tags
    # A process makes one capture at a time; both hooks mark their steps in it.
    assert find_captures(tmp_path) == [[4, 4, 5]]


def test_the_chrome_trace_has_the_operations_of_the_step(tmp_path, profiled):
    profiled(4, at_steps=[3], num_steps=1)
    events = json.loads((tmp_path / "timeline-3.json").read_text())["traceEvents"]
    assert all({"ph", "pid", "tid", "ts"} <= event.keys() for event in events)
    assert any("Momentum" in event["name"] for event in events if event["ph"] == "X")


@pytest.mark.slow
def test_a_busy_profiler_only_costs_the_capture(tmp_path, profiled, caplog):
    tf2.profiler.experimental.start(str(tmp_path / "other"))
    with caplog.at_level(logging.WARNING, "tf_frame"):
        profiled(6, at_steps=[3], num_steps=2)
    tf2.profiler.experimental.stop(save=False)
    assert find_captures(tmp_path) == []
    (message,) = caplog.messages
    assert "the profile from step 3 was not written: a call of tf.profiler.experimental" in message
    # What needs no profiler is there.
    assert find_timelines(tmp_path) == [3] and read_tags(tmp_path) == {"profile_3": 3}


def test_a_folder_that_cannot_be_written_only_warns(tmp_path, build, train, caplog):
    (tmp_path / "file").touch()
    hook = ProfileHook(str(tmp_path / "file"), at_steps=[3], num_steps=2)
    with caplog.at_level(logging.WARNING, "tf_frame"):
        assert train(build(), [hook], to=6) == 6
    assert len([m for m in caplog.messages if "training goes on" in m]) == 3
    assert nothing_runs()


def test_the_chief_keeps_the_newest_captures_of_the_folder(tmp_path, profiled):
    ranges = {"at_steps": [2, 4, 6], "num_steps": 1, "keep": 2}
    earlier = {"is_chief": False, "task": "worker_1", "began": lambda: 0.0}
    assert profiled(7, **ranges, **earlier) == [[2], [4], [6]]
    assert profiled(7, **ranges, label="again") == [[4], [6]]


def test_an_old_profile_that_cannot_be_removed_only_warns(tmp_path, profiled, monkeypatch, caplog):
    def refused(*_):
        raise PermissionError(13, "Permission denied", "old")

    monkeypatch.setattr("tf_frame.hooks.profile.retain", refused)
    with caplog.at_level(logging.WARNING, "tf_frame"):
        assert profiled(4, at_steps=[2], num_steps=1, keep=1) == [[2]]
    assert caplog.messages == [
        "an old profile was not removed: old: Permission denied; training goes on"
    ]


def test_two_hooks_that_record_one_training_do_not_end_each_other(tmp_path, build, caplog):
    times = StepTimes()
    hooks = [
        ProfileHook(
            str(tmp_path),
            at_steps=[begin],
            num_steps=num,
            recorder=Recorder(times, Facts("worker_0")),
            label=label,
        )
        for begin, num, label in ((2, 4, "long"), (3, 1, "short"))
    ]
    graph = build()
    loop = TrainingLoop(graph, Schedule([*hooks, StopAtStepHook(last_step=8)]), times=times)
    with (
        caplog.at_level(logging.WARNING, "tf_frame"),
        graph.graph.as_default(),
        tf.train.MonitoredSession(hooks=loop.hooks) as session,
    ):
        loop.run(session)
    assert [path.name.split("_", 6)[-1] for path in tmp_path.glob("plugins/profile/*")] == ["long"]
    (recorded,) = tmp_path.glob("plugins/profile/*/*.steps.json.gz")
    assert [step.number for step in read(str(recorded)).steps] == [3, 4, 5]
    record, capture = caplog.messages
    assert "another profile of this training records its steps; training goes on" in record
    assert "the capture long of this process has been active since" in capture


def test_a_task_that_is_not_the_chief_has_a_folder_of_its_own(tmp_path, profiled):
    profiled(4, at_steps=[3], num_steps=1, task="worker_2", is_chief=False)
    assert find_timelines(tmp_path) == [] and find_timelines(tmp_path / "worker_2") == [3]
    assert read_tags(tmp_path / "worker_2") == {"profile_3": 3}
    (capture,) = (tmp_path / "plugins" / "profile").rglob("*.xplane.pb")
    assert capture.name.endswith("_worker_2.xplane.pb")


def test_a_step_of_several_runs_is_marked_once(tmp_path, build):
    """Gradients are accumulated, for instance: the global step moves with every third run."""
    with build().graph.as_default():
        step = tf.train.get_global_step()
        runs = tf.get_variable("runs", [], tf.int64, tf.zeros_initializer(), trainable=False)
        with tf.control_dependencies([tf.assign_add(runs, 1)]):
            moves = tf.assign(step, runs.read_value() // 3)
        tf.get_collection_ref("tf_frame/global_step_after_update")[:] = [tf.identity(moves)]
        hook = ProfileHook(str(tmp_path), at_steps=[2], num_steps=2)
        with tf.train.MonitoredSession(hooks=[hook]) as session:
            for _ in range(15):
                session.run(moves)
    assert find_captures(tmp_path) == [[2, 3]]
    assert read_tags(tmp_path) == {"profile_2": 2}


def test_a_session_of_a_server_is_profiled_too(tmp_path):
    server = tf.train.Server.create_local_server()
    with tf.Graph().as_default():
        moves = tf.assign_add(tf.train.create_global_step(), 1)
        read_step_after([moves], tf.train.get_global_step())
        hook = ProfileHook(str(tmp_path), at_steps=[2], num_steps=2)
        creator = tf.train.ChiefSessionCreator(master=server.target)
        with tf.train.MonitoredSession(creator, hooks=[hook]) as session:
            for _ in range(4):
                session.run(moves)
    assert find_captures(tmp_path) == [[2, 3]]
    events = json.loads((tmp_path / "timeline-2.json").read_text())["traceEvents"]
    assert [event for event in events if event["ph"] == "X"]


def test_without_room_for_the_capture_the_recorded_steps_are_written(tmp_path, monkeypatch):
    def no_room(self, **name):
        os.remove(save(self, **name))
        raise CaptureError("No space left on device")

    save = Capture.save
    monkeypatch.setattr(Capture, "save", no_room)
    (tmp_path / "run").mkdir()
    options = {"max_steps": 5, "profile_at_step": (2,), "profile_num_steps": 3, "evaluate": False}
    lines = []
    result = run_setup(
        make_setup(ToyModel, ToyInput, str(tmp_path / "run"), **options), report=lines.append
    )
    assert result["global_step"] == 5
    assert [line for line in lines if line.startswith("warning")] == [
        "warning: the capture from step 2 was not written: No space left on device; "
        "training goes on"
    ]
    (written,) = (tmp_path / "run" / "plugins" / "profile").glob("*/*")
    assert [step.number for step in read(str(written)).steps] == [3, 4]
