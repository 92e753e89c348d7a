"""`learning.train`: the end of the input, errors, and values that are not finite."""

import contextlib
import threading

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from event_files import scalars
from tf_frame.errors import NonFiniteError
from tf_frame_legacy import learning

from ..runs import checkpoints, loss_of_step, saved
from .conftest import make_train_op

pytestmark = [
    pytest.mark.usefixtures("graph", "variable_mode", "control_flow_of_v1"),
    pytest.mark.timeout(60),
]


def test_the_end_of_the_input_ends_training_well(tmp_path, log):
    row = tf.train.range_input_producer(3, num_epochs=2, shuffle=False).dequeue()
    train_op = make_train_op(lambda w: tf.square(w) + 0.0 * tf.to_float(row))
    # A summary would take a row as well.
    assert learning.train(train_op, str(tmp_path), summary_op=None) == loss_of_step(6)
    assert checkpoints(tmp_path) == ["model.ckpt-0", "model.ckpt-6"]
    assert log.text.count("Caught OutOfRangeError. Stopping Training. ") == 1
    assert "FIFOQueue" in log.text


def test_no_step_returns_none(tmp_path):
    def train_step_fn(*args):
        raise tf.errors.OutOfRangeError(None, None, "nothing to read")

    assert learning.train(make_train_op(), str(tmp_path), train_step_fn=train_step_fn) is None
    assert saved(tmp_path, "global_step") == 0


def test_an_aborted_step_is_tried_again_from_the_last_checkpoint(tmp_path, clock, log):
    clock.tick = 1.0
    steps = []

    def train_step_fn(session, train_op, global_step, train_step_kwargs):
        steps.append(session)
        if len(steps) == 4:
            raise tf.errors.AbortedError(None, None, "a server went away")
        return learning.train_step(session, train_op, global_step, train_step_kwargs)

    options = {"train_step_fn": train_step_fn, "save_interval_secs": 2}
    loss = learning.train(make_train_op(), str(tmp_path), number_of_steps=4, **options)
    assert loss == loss_of_step(4)
    assert log.messages.count("Retrying training!") == 1
    assert log.messages.count("Starting Session.") == 2
    # Saved at 0 and 2; the step 3 is made twice, and the session is another.
    assert len(steps) == 6
    assert len(set(map(id, steps))) == 2
    assert scalars(tmp_path, "loss")[-1][0] == 2


def test_another_error_is_raised_and_nothing_is_saved(tmp_path):
    def train_step_fn(session, train_op, *args):
        session.run(train_op)
        raise tf.errors.UnavailableError(None, None, "no server")

    with pytest.raises(tf.errors.UnavailableError, match="no server"):
        learning.train(make_train_op(), str(tmp_path), train_step_fn=train_step_fn)
    assert checkpoints(tmp_path) == ["model.ckpt-0"]


def test_an_error_of_the_input_is_raised(tmp_path):
    def fail():
        raise ZeroDivisionError("the second row is broken")

    row = tf.train.batch([tf.py_func(fail, [], tf.float32, stateful=True)], 1, shapes=[[]])
    train_op = make_train_op(lambda w: tf.square(w) + row[0])
    with pytest.raises(Exception, match="the second row is broken"):
        learning.train(train_op, str(tmp_path))


def test_an_error_while_saving_the_last_step_is_raised(tmp_path):
    """TensorFlow's supervisor drops it, for training had been told to stop."""

    class Saver(tf.train.Saver):
        def save(self, session, path, global_step=None, **kwargs):
            if session.run(global_step) == 2:
                raise tf.errors.ResourceExhaustedError(None, None, "no space left")
            return super().save(session, path, global_step=global_step, **kwargs)

    train_op = make_train_op()
    with pytest.raises(tf.errors.ResourceExhaustedError, match="no space left"):
        learning.train(train_op, str(tmp_path), number_of_steps=2, saver=Saver())
    assert tf.train.latest_checkpoint(str(tmp_path)).endswith("model.ckpt-0")


@pytest.mark.parametrize("ignore", [False, True])
def test_threads_that_go_on_may_be_ignored(tmp_path, monkeypatch, ignore):
    """A thread has two minutes to end; here none."""

    class Impatient(tf.train.Supervisor):
        def __init__(self, **kwargs):
            super().__init__(stop_grace_secs=0, **kwargs)

    monkeypatch.setattr(tf.train, "Supervisor", Impatient)
    go_on = threading.Event()
    thread = threading.Thread(target=go_on.wait, daemon=True)
    thread.start()

    class Runner:
        def create_threads(self, session, coord, daemon, start):
            coord.register_thread(thread)
            return [thread]

    tf.add_to_collection(tf.GraphKeys.QUEUE_RUNNERS, Runner())

    expected = contextlib.nullcontext()
    if not ignore:
        expected = pytest.raises(RuntimeError, match="stopped with threads still running")
    options = {"number_of_steps": 1, "ignore_live_threads": ignore}
    try:
        with expected:
            assert learning.train(make_train_op(), str(tmp_path), **options) == 16.0
    finally:
        go_on.set()
    assert checkpoints(tmp_path) == ["model.ckpt-0", "model.ckpt-1"]


def diverging_train_op(**kwargs):
    """The loss is NaN once the global step is 3."""
    step = tf.train.get_or_create_global_step()
    factor = tf.where(step < 3, 1.0, float("nan"))
    return make_train_op(lambda w: tf.square(w) * factor, **kwargs)


def test_a_loss_of_nan_leaves_the_last_good_checkpoint(tmp_path, clock):
    clock.tick = 1.0
    with pytest.raises(tf.errors.InvalidArgumentError, match="LossTensor is inf or nan"):
        learning.train(diverging_train_op(), str(tmp_path), number_of_steps=9, save_interval_secs=1)
    assert checkpoints(tmp_path) == [f"model.ckpt-{step}" for step in range(4)]
    assert saved(tmp_path, "w") == pytest.approx(4 * 0.8**3)


@pytest.mark.parametrize("save_interval_secs", [0, 2, 600])
def test_a_model_of_nan_is_never_saved(tmp_path, clock, save_interval_secs):
    """Neither by the clock, nor at the end."""
    clock.tick = 1.0
    message = "1 variables hold NaN or infinity at global step 4, first w; the step was not saved"
    train_op = diverging_train_op(check_numerics=False)
    options = {"number_of_steps": 4, "save_interval_secs": save_interval_secs}
    with pytest.raises(NonFiniteError, match=message):
        learning.train(train_op, str(tmp_path), **options)
    for path in checkpoints(tmp_path):
        assert np.isfinite(tf.train.load_variable(str(tmp_path / path), "w"))
    steps = {0: [], 2: [0, 2], 600: [0]}[save_interval_secs]
    assert checkpoints(tmp_path) == [f"model.ckpt-{step}" for step in steps]


@pytest.mark.parametrize(
    ("value", "trainable", "refused"),
    [("nan", False, True), ("inf", True, True), ("inf", False, False)],
)
def test_an_infinity_may_stand_in_a_variable_that_is_not_trained(
    tmp_path, value, trainable, refused
):
    tf.get_variable("best", initializer=tf.constant(float(value)), trainable=trainable)
    w = tf.get_variable("w", initializer=tf.constant(4.0))
    train_op = learning.create_train_op(
        tf.square(w), tf.train.GradientDescentOptimizer(0.1), variables_to_train=[w]
    )
    if refused:
        with pytest.raises(NonFiniteError, match="first best"):
            learning.train(train_op, str(tmp_path), number_of_steps=1)
        assert checkpoints(tmp_path) == []
    else:
        learning.train(train_op, str(tmp_path), number_of_steps=1)
        assert saved(tmp_path, "best") == float("inf")
