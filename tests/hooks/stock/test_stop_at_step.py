import pytest
import tensorflow.compat.v1 as tf

from acting_hooks import Lose
from tf_frame.hooks.stock.stop_at_step import StopAtStepHook


@pytest.mark.usefixtures("variable_mode")
@pytest.mark.parametrize("last_step", [1, 4])
def test_training_stops_exactly_at_the_last_step(build, train, last_step):
    assert train(build(), [StopAtStepHook(last_step=last_step)], to=9) == last_step


def test_the_first_argument_is_the_number_of_steps_as_in_tensorflow(tmp_path, build, train):
    for _ in range(2):
        assert train(build(), [StopAtStepHook(3)], to=9, save_every=100) == 3
    assert tf.train.latest_checkpoint(str(tmp_path)).endswith("model.ckpt-6")


@pytest.mark.slow
def test_the_last_step_counts_from_the_beginning_of_the_run(build, train):
    for last_step, expected in ((3, 3), (5, 2)):
        assert train(build(), [], to=last_step, save_every=100) == expected


@pytest.mark.parametrize(
    "stop",
    [
        pytest.param({"last_step": 3}, marks=pytest.mark.slow),
        pytest.param({"last_step": 2}, marks=pytest.mark.slow),
        {"num_steps": 0},
    ],
)
def test_a_run_that_is_resumed_at_its_end_runs_no_step(build, train, stop):
    for options, expected in (({"last_step": 3}, 3), (stop, 0)):
        assert train(build(), [StopAtStepHook(**options)], to=9, save_every=100) == expected


@pytest.mark.parametrize("last_step", [0, -1])
def test_a_last_step_before_the_first_runs_no_step(build, train, last_step):
    assert train(build(), [StopAtStepHook(last_step=last_step)], to=9) == 0


@pytest.mark.slow
@pytest.mark.usefixtures("variable_mode")
@pytest.mark.parametrize(("hooks", "extra"), [(tf.train.StopAtStepHook, 1), (StopAtStepHook, 0)])
def test_in_a_session_of_tensorflow_too_no_step_too_many_is_run(tmp_path, build, hooks, extra):
    """TensorFlow's own hook runs one; seen here so that the difference is known to be real."""
    for expected in (3, extra):
        graph, steps = build(), 0
        with (
            graph.graph.as_default(),
            tf.train.MonitoredTrainingSession(
                checkpoint_dir=str(tmp_path), hooks=[hooks(last_step=3)]
            ) as session,
        ):
            while not session.should_stop():
                session.run(graph.train_op)
                steps += 1
        assert steps == expected


@pytest.mark.slow
def test_a_lost_session_goes_on_to_the_same_step(tmp_path, build, train):
    train(build(), [StopAtStepHook(num_steps=6), Lose(after=3)], to=20, save_every=2)
    # Lost in step 3, restored at 2.
    assert tf.train.latest_checkpoint(str(tmp_path)).endswith("model.ckpt-6")


def test_before_a_session_it_wants_the_last_step_and_asks_for_no_stop():
    hook = StopAtStepHook(last_step=7)
    assert hook.cadence.next_step() == 7
    assert not hook.should_stop()
