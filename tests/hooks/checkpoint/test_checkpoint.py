import logging
import re
import time
from types import SimpleNamespace

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from acting_hooks import StopAt, Tick
from slow_cases import slow_but
from tf_frame.checkpoint.find.newest import listed_checkpoints, newest_checkpoint, read_step
from tf_frame.hooks.base import Phase
from tf_frame.hooks.checkpoint import CheckpointHook
from tf_frame.testing.session_runs import counted_runs


def kept_steps(folder):
    """Steps in the `checkpoint` file; the files on disk must be of the same ones."""
    listed = [int(path.rsplit("-")[-1]) for path in listed_checkpoints(str(folder))]
    on_disk = {int(path.stem.rsplit("-")[-1]) for path in folder.glob("model.ckpt-*.index")}
    assert set(listed) == on_disk
    return listed


# Both ways write the same, which a test below says; what fails is tested both ways elsewhere.
@pytest.fixture(
    params=[False, pytest.param(True, marks=pytest.mark.slow)], ids=["synchronous", "asynchronous"]
)
def make_hook(request):
    """Makes the hook of a graph, both ways of writing in turn."""

    def make_hook(folder, graph, **options):
        return CheckpointHook(str(folder), graph.scaffold, asynchronous=request.param, **options)

    return make_hook


@pytest.fixture
def count_saves(caplog):
    """Counts how often a checkpoint of a step was written."""
    caplog.set_level(logging.INFO, logger="tf_frame")
    return lambda step: len(re.findall(rf"saved \S*model\.ckpt-{step}\n", caplog.text))


@pytest.mark.usefixtures("variable_mode")
def test_it_saves_at_the_start_every_n_steps_and_at_the_end_under_their_names(
    tmp_path, make_hook, build, train
):
    graph = build()
    train(graph, [make_hook(tmp_path, graph, every_steps=3)], to=8)
    assert kept_steps(tmp_path) == [0, 3, 6, 8]
    assert [read_step(path) for path in listed_checkpoints(str(tmp_path))] == [0, 3, 6, 8]
    assert not list(tmp_path.glob("*.meta"))  # No graph is written.


class Reader(tf.train.SessionRunHook):
    """Reads the weights after every step."""

    def begin(self):
        (weights,) = (v for v in tf.trainable_variables() if v.op.name == "linear/weights")
        self.weights = weights.read_value()
        self.values = []

    def after_run(self, run_context, run_values):
        self.values.append(run_context.session.run(self.weights))


@pytest.mark.usefixtures("variable_mode")
def test_a_checkpoint_holds_the_variables_after_its_step(tmp_path, make_hook, build, train):
    graph, reader = build(), Reader()
    train(graph, [make_hook(tmp_path, graph, every_steps=1), reader], to=3)
    saved = [tf.train.load_variable(p, "linear/weights") for p in listed_checkpoints(str(tmp_path))]
    np.testing.assert_array_equal(saved[1:], reader.values)
    assert len({value.tobytes() for value in saved}) == 4


@pytest.mark.parametrize(
    ("last_steps", "every_steps", "saved"),
    slow_but(
        (0, 2),
        [
            ((6,), 3, [0, 3, 6]),
            ((2, 4), 100, [0, 2, 4]),  # A resumed run does not save its first step.
            ((2, 7), 3, [0, 2, 5, 7]),  # It counts from its first step.
            ((2, 2), 1, [0, 1, 2]),
        ],
        several=True,
    ),
)
def test_each_step_is_saved_once_also_by_a_resumed_run(
    tmp_path, make_hook, build, train, count_saves, last_steps, every_steps, saved
):
    for last_step in last_steps:
        graph = build()
        train(graph, [make_hook(tmp_path, graph, every_steps=every_steps)], to=last_step)
    assert kept_steps(tmp_path) == saved
    assert [count_saves(step) for step in saved] == [1] * len(saved)


@pytest.mark.parametrize(
    ("options", "durations", "saved"),
    slow_but(
        (0, -1),
        [
            ({"every_secs": 10}, [9, 2, 5, 10, 1, 1], [0, 3, 5, 6]),
            # The seconds are over after step 2, so step 3 is saved; the steps after 3 more.
            ({"every_steps": 3, "every_secs": 10}, [1, 11, 1, 1, 1, 1, 1], [0, 3, 6, 7]),
            ({"every_steps": 4, "every_secs": 10}, [11, 1, 1, 1, 1], [0, 2, 5]),
            ({"every_steps": 3, "multiples_of": 4}, [1] * 8, [0, 3, 4, 6, 8]),
        ],
        several=True,
    ),
)
def test_steps_and_seconds_are_saved_whichever_comes_first(
    tmp_path, make_hook, build, train, clock, options, durations, saved
):
    graph = build()
    hooks = [make_hook(tmp_path, graph, **options), Tick(clock, durations, Phase.STOP)]
    train(graph, hooks, to=len(durations))
    assert kept_steps(tmp_path) == saved


@pytest.mark.slow
def test_a_resumed_run_deletes_the_old_ones_of_the_run_before(tmp_path, make_hook, build, train):
    for last_step, expected in ((2, [0, 1, 2]), (3, [1, 2, 3]), (6, [4, 5, 6])):
        graph = build()
        train(graph, [make_hook(tmp_path, graph, every_steps=1, max_to_keep=3)], to=last_step)
        assert kept_steps(tmp_path) == expected


def test_a_run_that_fails_is_not_saved_at_its_end(tmp_path, make_hook, build, train):
    graph = build()

    def fail(session):
        raise ValueError("a defect")

    hook = make_hook(tmp_path, graph, every_steps=100)
    with pytest.raises(ValueError, match="a defect"):
        train(graph, [hook], to=9, each=fail)
    hook.close()  # Waits for the checkpoint of the start.
    assert kept_steps(tmp_path) == [0]


def test_it_wants_steps_or_seconds():
    with pytest.raises(ValueError, match="give every_steps, every_secs or both"):
        CheckpointHook("", None)


def test_a_step_that_is_passed_over_is_made_up_for_at_the_next(tmp_path, make_hook, build, train):
    graph = build()
    with graph.graph.as_default():
        jump = tf.train.get_global_step().assign_add(1)

    class OtherWorker(tf.train.SessionRunHook):
        """Moves the global step from 2 to 3 between two steps."""

        def after_run(self, run_context, run_values):
            step = run_context.session.run(tf.train.get_global_step())
            if step == 2:
                run_context.session.run(jump)

    other = OtherWorker()
    other.phase = Phase.STOP
    train(graph, [make_hook(tmp_path, graph, every_steps=3), other], to=9)
    # 3 was made by the other worker; the first step that is seen from there on is 4.
    assert kept_steps(tmp_path) == [0, 4, 7, 9]


@pytest.mark.parametrize("at_step", [4, 5])
def test_a_stop_that_another_hook_requests_saves_its_step_once(
    tmp_path, make_hook, build, train, count_saves, at_step
):
    graph = build()
    train(graph, [make_hook(tmp_path, graph, every_steps=2), StopAt(at_step)], to=9)
    assert kept_steps(tmp_path) == sorted({0, 2, 4, at_step})
    assert count_saves(at_step) == 1


# An asynchronous save copies the variables in one run, and another session writes in a second run.
@pytest.mark.parametrize(("asynchronous", "runs"), [(False, 1), (True, 2)])
def test_steps_that_are_not_saved_take_one_session_run(tmp_path, build, train, asynchronous, runs):
    so_far, graph = [], build()
    hook = CheckpointHook(str(tmp_path), graph.scaffold, every_steps=4, asynchronous=asynchronous)

    def note(session):
        hook.wait()
        so_far.append(count.runs)

    with counted_runs() as count:
        train(graph, [hook], to=9, each=note)
    assert np.diff(so_far).tolist() == [1, 1, 1 + runs, 1, 1, 1, 1 + runs, 1]


@pytest.mark.usefixtures("variable_mode")
def test_the_saver_of_the_scaffold_restores_what_is_written(tmp_path, make_hook, build, train):
    graph = build()
    train(graph, [make_hook(tmp_path, graph, every_steps=2)], to=5)
    path = tf.train.latest_checkpoint(str(tmp_path))
    assert path == str(tmp_path / "model.ckpt-5")
    with graph.graph.as_default(), tf.Session() as session:
        graph.scaffold.saver.restore(session, path)
        assert session.run(graph.global_step) == 5
        for variable in tf.global_variables():
            saved = tf.train.load_variable(path, variable.op.name)
            np.testing.assert_array_equal(session.run(variable), saved)


@pytest.mark.slow
@pytest.mark.usefixtures("variable_mode")
def test_both_ways_of_writing_write_the_same(tmp_path, build, train):
    values = []
    for asynchronous in (False, True):
        graph, folder = build(), tmp_path / str(asynchronous)
        hook = CheckpointHook(str(folder), graph.scaffold, every_steps=1, asynchronous=asynchronous)
        train(graph, [hook], to=4)
        values.append(
            [
                {n: tf.train.load_variable(p, n).tolist() for n, _ in tf.train.list_variables(p)}
                for p in listed_checkpoints(str(folder))
            ]
        )
    assert len(values[0]) == 5
    assert values[0] == values[1]


def test_extra_tensors_are_in_the_same_checkpoint_as_they_were_then(
    tmp_path, make_hook, build, train
):
    graph = build()
    with graph.graph.as_default():
        text = tf.strings.as_string(graph.global_step.read_value())
        extras = {"input_position/a": text, "input_position/b": tf.stack([text, text])}
    train(graph, [make_hook(tmp_path, graph, every_steps=2, extras=extras)], to=5)
    for path, step in zip(listed_checkpoints(str(tmp_path)), (0, 2, 4, 5), strict=True):
        assert tf.train.load_variable(path, "global_step") == step
        assert tf.train.load_variable(path, "input_position/a") == b"%d" % step
        assert tf.train.load_variable(path, "input_position/b").tolist() == [b"%d" % step] * 2


def test_extra_tensors_that_are_added_later_than_the_hook_count(tmp_path, make_hook, build, train):
    graph, extras = build(), {}

    class Late(tf.train.SessionRunHook):
        def begin(self):
            extras["late"] = tf.constant(b"here")

    train(graph, [make_hook(tmp_path, graph, every_steps=2, extras=extras), Late()], to=2)
    assert tf.train.load_variable(str(tmp_path / "model.ckpt-2"), "late") == b"here"


def test_one_is_kept_for_every_so_many_hours(tmp_path, make_hook, build, train, monkeypatch):
    graph, now = build(), [1_700_000_000.0]
    monkeypatch.setattr(time, "time", lambda: now[0])
    hook = make_hook(tmp_path, graph, every_steps=1, max_to_keep=1, keep_every_n_hours=1)
    hook._kept._now = lambda: now[0]

    def half_an_hour(session):
        hook.wait()
        now[0] += 1800

    train(graph, [hook], to=6, each=half_an_hour)
    on_disk = {int(path.stem.rsplit("-")[-1]) for path in tmp_path.glob("model.ckpt-*.index")}
    # Step n is saved (n - 1) / 2 hours after the start; the first after each full hour stays.
    assert on_disk == {4, 6}


def test_a_saver_with_several_shards_is_written_synchronously_and_told(tmp_path, build, train):
    said, graph = [], build()
    with graph.graph.as_default():
        with tf.device("/device:CPU:1"):
            tf.get_variable("elsewhere", [1], initializer=tf.ones_initializer())
        graph.scaffold._saver = tf.train.Saver(sharded=True)
    hook = CheckpointHook(
        str(tmp_path), graph.scaffold, every_steps=2, asynchronous=True, report=said.append
    )
    train(graph, [hook], to=3)
    assert said == ["checkpoints are written synchronously: 2 devices write a shard each"]
    assert kept_steps(tmp_path) == [0, 2, 3]
    assert newest_checkpoint(str(tmp_path)) == str(tmp_path / "model.ckpt-3")


@pytest.mark.usefixtures("variable_mode")
def test_in_a_graph_of_others_the_name_tells_the_step_too(tmp_path, make_hook):
    with tf.Graph().as_default():
        step = tf.train.create_global_step().assign_add(1)
        scaffold = tf.train.Scaffold()
        hook = make_hook(tmp_path, SimpleNamespace(scaffold=scaffold), every_steps=2)
        creator = tf.train.ChiefSessionCreator(scaffold)
        with tf.train.MonitoredSession(creator, hooks=[hook]) as session:
            for _ in range(7):
                session.run(step)
        assert len(tf.get_collection(tf.GraphKeys.SAVERS)) == 1
    steps = kept_steps(tmp_path)
    assert len(steps) > 3
    assert [read_step(path) for path in listed_checkpoints(str(tmp_path))] == steps


def test_leftovers_of_a_save_that_was_killed_are_removed_at_the_start(
    tmp_path, make_hook, build, train
):
    (tmp_path / "model.ckpt-9.saving").mkdir()
    (tmp_path / "model.ckpt-9.data-00000-of-00001").write_text("half")
    graph = build()
    train(graph, [make_hook(tmp_path, graph, every_steps=1)], to=1)
    assert not list(tmp_path.glob("model.ckpt-9*"))
