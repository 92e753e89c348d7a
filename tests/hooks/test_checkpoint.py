import logging

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame.checkpoint.newest import known_checkpoints, step_of
from tf_frame.config.run_config import RunConfig
from tf_frame.hooks.base import Hook
from tf_frame.hooks.checkpoint import CheckpointHook


def kept_steps(folder):
    """Steps in the `checkpoint` file; the files on disk must be of the same ones."""
    listed = [int(path.rsplit("-")[-1]) for path in known_checkpoints(str(folder))]
    on_disk = {int(path.stem.rsplit("-")[-1]) for path in folder.glob("model.ckpt-*.index")}
    assert set(listed) == on_disk
    return listed


def hook_of(folder, graph, **cadence):
    return CheckpointHook(str(folder), graph.scaffold, **cadence)


@pytest.fixture
def count_saves(caplog):
    """Counts how often a checkpoint of a step was written."""
    caplog.set_level(logging.INFO, logger="tf_frame")
    return lambda step: caplog.text.count(f"model.ckpt-{step}\n")


@pytest.mark.usefixtures("variable_mode")
def test_it_saves_at_the_start_every_n_steps_and_at_the_end(tmp_path, build, train):
    graph = build()
    train(graph, [hook_of(tmp_path, graph, every_steps=3)], to=8)
    assert kept_steps(tmp_path) == [0, 3, 6, 8]


def test_each_checkpoint_holds_the_step_of_its_name(tmp_path, build, train):
    graph = build()
    train(graph, [hook_of(tmp_path, graph, every_steps=2)], to=4)
    assert [step_of(path) for path in known_checkpoints(str(tmp_path))] == [0, 2, 4]


class Reader(Hook):
    """Reads the weights after every step."""

    def begin(self):
        (weights,) = (v for v in tf.trainable_variables() if v.op.name == "linear/weights")
        self.weights = weights.read_value()
        self.values = []

    def after_run(self, run_context, run_values):
        self.values.append(run_context.session.run(self.weights))


@pytest.mark.usefixtures("variable_mode")
def test_a_checkpoint_holds_the_variables_after_its_step(tmp_path, build, train):
    graph, reader = build(), Reader()
    train(graph, [hook_of(tmp_path, graph, every_steps=1), reader], to=3)
    saved = [tf.train.load_variable(p, "linear/weights") for p in known_checkpoints(str(tmp_path))]
    np.testing.assert_array_equal(saved[1:], reader.values)
    assert len({value.tobytes() for value in saved}) == 4


def test_the_last_step_is_not_saved_twice(tmp_path, build, train, count_saves):
    graph = build()
    train(graph, [hook_of(tmp_path, graph, every_steps=3)], to=6)
    assert [count_saves(step) for step in (0, 3, 6)] == [1, 1, 1]


def test_a_resumed_run_does_not_save_again_what_it_started_from(
    tmp_path, build, train, count_saves
):
    for last_step in (2, 4):
        graph = build()
        train(graph, [hook_of(tmp_path, graph, every_steps=100)], to=last_step)
    assert kept_steps(tmp_path) == [0, 2, 4]
    assert [count_saves(step) for step in (0, 2, 4)] == [1, 1, 1]


def test_a_resumed_run_counts_its_steps_from_where_it_started(tmp_path, build, train):
    for last_step in (2, 7):
        graph = build()
        train(graph, [hook_of(tmp_path, graph, every_steps=3)], to=last_step)
    assert kept_steps(tmp_path) == [0, 2, 5, 7]


def test_it_saves_every_so_many_seconds(tmp_path, build, train, clock):
    graph, durations = build(), iter([9, 2, 5, 10, 1, 1])

    def pass_time(session):
        clock.now += next(durations)

    train(graph, [hook_of(tmp_path, graph, every_secs=10)], to=6, each=pass_time)
    assert kept_steps(tmp_path) == [0, 3, 5, 6]


def test_only_the_newest_are_kept(tmp_path, build, train):
    graph = build(RunConfig(train_batch_size=8, max_to_keep=2))
    train(graph, [hook_of(tmp_path, graph, every_steps=1)], to=5)
    assert kept_steps(tmp_path) == [4, 5]


def test_a_resumed_run_deletes_the_old_ones_of_the_run_before(tmp_path, build, train):
    config = RunConfig(train_batch_size=8, max_to_keep=3)
    for last_step, expected in ((2, [0, 1, 2]), (3, [1, 2, 3]), (6, [4, 5, 6])):
        graph = build(config)
        train(graph, [hook_of(tmp_path, graph, every_steps=1)], to=last_step)
        assert kept_steps(tmp_path) == expected


def test_no_meta_graph_is_written(tmp_path, build, train):
    graph = build()
    train(graph, [hook_of(tmp_path, graph, every_steps=1)], to=1)
    assert not list(tmp_path.glob("*.meta"))


def test_a_run_that_fails_is_not_saved_at_its_end(tmp_path, build, train):
    graph = build()

    def fail(session):
        raise ValueError("a defect")

    with pytest.raises(ValueError, match="a defect"):
        train(graph, [hook_of(tmp_path, graph, every_steps=100)], to=9, each=fail)
    assert kept_steps(tmp_path) == [0]
