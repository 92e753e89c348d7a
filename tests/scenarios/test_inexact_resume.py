"""Runs that cannot be resumed exactly: refused, or with leave trained and resumed."""

import re

import pytest
import tensorflow.compat.v1 as tf

from slow_cases import slow, slow_but
from tf_frame.checkpoint.find.newest import newest_checkpoint, read_step
from tf_frame.checkpoint.find.reader import Checkpoint
from tf_frame.errors import EXIT_USAGE, ConfigError, DataError
from tf_frame.testing.toy import ToyInput, ToyModel, make_setup, run_setup


@pytest.fixture
def go(tmp_path):
    """Trains the toy model to a step; returns the reported lines."""

    def go(steps, *, source=ToyInput, model=ToyModel, **options):
        lines = []
        setup = make_setup(model, source, str(tmp_path), max_steps=steps, evaluate=False, **options)
        run_setup(setup, report=lines.append)
        assert read_step(newest_checkpoint(str(tmp_path))) == steps
        return [line for line in lines if line.startswith("warning: ")]

    return go


class Stateful(ToyInput):
    """Moves its features by a stateful random op."""

    def dataset(self, mode, context):
        data = super().dataset(mode, context)
        return data.map(lambda x, y: (x + tf.random_uniform([], maxval=0.01), y))


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
        {"source": Stateful},
        "the position in the input cannot be saved: .*RandomUniform is stateful",
    ),
    "queue": ({"source": Queue}, "the content of its queues cannot be saved"),
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
