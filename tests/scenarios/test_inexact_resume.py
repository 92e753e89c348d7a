"""Runs that cannot be resumed exactly: refused, or with leave trained and resumed; and inputs
that are read again up to the step of the checkpoint, because their position cannot be saved."""

import dataclasses
import itertools
import os
import re

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from slow_cases import slow, slow_but
from tf_frame.checkpoint.find.newest import newest_checkpoint, read_step
from tf_frame.checkpoint.find.reader import Checkpoint
from tf_frame.errors import EXIT_USAGE, ConfigError, DataError
from tf_frame.gradient_transforms.accumulate import Accumulate
from tf_frame.plugin.kinds import GRADIENT_TRANSFORM
from tf_frame.testing.toy import ToyInput, ToyModel, configured_plugin, make_setup, run_setup


@pytest.fixture
def go(tmp_path):
    """Trains the toy model to a step; returns the reported lines."""

    def go(
        steps,
        *,
        source=ToyInput,
        model=ToyModel,
        transforms=(),
        folder="",
        shown="warning: ",
        reached=None,
        **options,
    ):
        lines = []
        options = {"evaluate": False, "transforms": transforms, **options}
        setup = make_setup(model, source, str(tmp_path / folder), max_steps=steps, **options)
        os.makedirs(setup.model_dir, exist_ok=True)
        run_setup(setup, report=lines.append)
        assert read_step(newest_checkpoint(setup.model_dir)) == (reached or steps)
        return [line for line in lines if line.startswith(shown)]

    return go


class Stateful(ToyInput):
    """Moves its features by a stateful random op."""

    def dataset(self, mode, context):
        data = super().dataset(mode, context)
        return data.map(lambda x, y: (x + tf.random_uniform([], maxval=0.01), y))


class Python(ToyInput):
    """Moves its features by a Python function, which counts its calls."""

    def dataset(self, mode, context):
        called = itertools.count()

        def move(features):
            return features + np.float32(0.01 * next(called))

        def with_python(features, labels):
            moved = tf.numpy_function(move, [features], tf.float32)
            return tf.ensure_shape(moved, features.shape), labels

        return super().dataset(mode, context).map(with_python)


class Queue(ToyInput):
    """Takes its batches from a function."""

    def dataset(self, mode, context):
        size = [context.batch_size, 3]
        return lambda: (tf.random.stateless_uniform(size, [1, 2]), tf.zeros([size[0], 1]))


class InALoop(ToyModel):
    """Moves its features by a random op in a loop."""

    def build(self, features, labels, mode):
        def moved(_, tensor):
            return False, tensor + tf.random_uniform([], maxval=0.01)

        _, features = tf.while_loop(lambda go_on, _: go_on, moved, [True, features], name="loop")
        return super().build(features, labels, mode)


PARTS = {
    "stateful input": (
        {"source": Stateful, "strict": True},
        "the position in the input cannot be saved: .*RandomUniform is stateful",
    ),
    "queue": ({"source": Queue}, "returned no data set"),
    "random op in a loop": (
        {"model": InALoop},
        "a resumed run would not end like one .*loop: .*While calls a function with the random",
    ),
}


@pytest.mark.parametrize("name", PARTS)
def test_what_cannot_be_resumed_exactly_is_refused_before_the_first_step(name, go, tmp_path):
    parts, reason = PARTS[name]
    with pytest.raises(DataError, match=rf"(?s){reason}.*--allow_inexact_resume") as raised:
        go(3, **parts)
    assert raised.value.exit_code == EXIT_USAGE
    assert newest_checkpoint(str(tmp_path)) is None


@pytest.mark.parametrize("name", slow_but((0, 2), PARTS))
def test_with_leave_it_trains_and_goes_on_with_a_warning(name, go):
    parts, reason = PARTS[name]
    first, resumed = ("\n".join(go(to, allow_inexact_resume=True, **parts)) for to in (3, 5))
    assert all(re.search(f"(?s)warning: .*{reason}", lines) for lines in (first, resumed))
    assert "new pass over the data" not in first
    assert ("new pass over the data" in resumed) is ("source" in parts)


def variables(folder):
    checkpoint = Checkpoint(newest_checkpoint(str(folder)))
    names = [name for name in checkpoint.names if not name.startswith("input_position/")]
    assert "linear/weights" in names
    return {name: checkpoint.read(name).tobytes() for name in names}


COUNTED = {
    "plain": {},
    "clones and a loop of steps": {"num_clones": 2, "steps_per_loop": 2},
    "shards of the batch": {"batch_shards": 2},
}


@pytest.mark.parametrize("name", slow_but((0, 1), COUNTED))
def test_an_input_with_python_goes_on_as_if_never_stopped(name, go, tmp_path):
    options = {"source": Python, "values": {"input.shuffle": True}, **COUNTED[name]}
    for steps in (3, 11):  # More than the 8 batches of a pass.
        notes = go(steps, folder="stopped", shown="note: the position", **options)
        assert len(notes) == 1 and "and goes on exactly if its Python functions" in notes[0]
    go(11, folder="whole", **options)
    assert variables(tmp_path / "stopped") == variables(tmp_path / "whole")


class Stop(tf.train.SessionRunHook):
    """Ends a training after some runs."""

    def __init__(self, runs):
        self.left = runs

    def after_run(self, run_context, run_values):
        self.left -= 1
        if not self.left:
            run_context.request_stop()


class Stopping(ToyModel):
    """Is stopped between two updates where three runs make an update."""

    def build(self, features, labels, mode):
        output = super().build(features, labels, mode)
        return dataclasses.replace(output, hooks=[Stop(runs=7)])


def test_runs_since_the_last_update_count(go, tmp_path):
    values = {"t.steps": 3}
    accumulate = configured_plugin(GRADIENT_TRANSFORM, "accumulate", Accumulate, values, "t")
    options = {"source": Python, "transforms": [accumulate]}
    go(4, reached=2, model=Stopping, folder="stopped", **options)
    go(4, folder="stopped", **options)
    go(4, folder="whole", **options)
    assert variables(tmp_path / "stopped") == variables(tmp_path / "whole")


@pytest.mark.slow
def test_with_leave_a_new_pass_begins_instead_of_reading_again(go):
    go(3, source=Python)
    _, warning = go(5, source=Python, allow_inexact_resume=True)
    assert warning == "warning: a new pass over the data begins"


def test_an_exact_run_warns_of_nothing(go, tmp_path):
    assert go(3) == []
    assert go(5) == []
    names = Checkpoint(newest_checkpoint(str(tmp_path))).names
    assert {"input_position/0", "input_position/fingerprint"} < set(names)


@pytest.mark.slow
def test_a_resumed_run_keeps_its_batch_size_unless_there_is_leave(go):
    go(3, train_batch_size=8)
    with pytest.raises(ConfigError, match="batch size of a clone 8 -> 16"):
        go(5, train_batch_size=16)
    (warning,) = go(5, train_batch_size=16, allow_inexact_resume=True)
    assert "8 -> 16; a new pass over the data begins" in warning
    assert go(7, train_batch_size=16) == []


@pytest.mark.slow
def test_options_that_do_not_touch_the_data_may_change(go):
    go(3)
    assert go(5, learning_rate=0.001, save_checkpoint_steps=2, save_checkpoint_secs=None) == []


class Declared(Stateful):
    """Says that it need not continue."""

    exact_resume = False


class DeclaredQueue(Queue):
    exact_resume = False


@pytest.mark.parametrize("source", [slow(Declared), DeclaredQueue])
def test_an_input_may_declare_that_it_need_not_continue(go, tmp_path, source):
    lines = []

    def train(steps):
        setup = make_setup(ToyModel, source, str(tmp_path), max_steps=steps, evaluate=False)
        run_setup(setup, report=lines.append)

    train(3)
    assert not [line for line in lines if "exact" in line or "warning" in line]
    train(5)
    notes = [line for line in lines if line.startswith("note: ") and "evaluated" not in line]
    assert notes == ["note: the input is read from its beginning, as it declares by exact_resume"]


def test_the_declaration_of_an_input_does_not_cover_the_model(go):
    with pytest.raises(DataError, match="While calls a function with the random"):
        go(3, source=Declared, model=InALoop)
