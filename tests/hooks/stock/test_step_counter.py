import pytest
import tensorflow.compat.v1 as tf

from tf_frame.hooks.stock.step_counter import StepCounterHook
from tf_frame.testing.events import read_scalars


@pytest.fixture
def lines(tensorflow_lines):
    """The lines of TensorFlow's log that name a rate."""
    return lambda: [line for line in tensorflow_lines() if "/sec" in line]


def read_rates(folder):
    """(step, steps per second) in the order of writing."""
    return [(step, value) for step, tag, value in read_scalars(folder) if tag == "global_step/sec"]


def test_the_rate_leaves_out_the_first_step_and_what_was_before_it(
    tmp_path, build, train, lines, clock
):
    graph, durations = build(), iter([100, 0.5, 0.5, 1, 1, 50])

    def pass_time(session):
        clock.now += next(durations)

    clock.now += 30
    train(graph, [StepCounterHook(2, output_dir=str(tmp_path))], to=6, each=pass_time)
    # Step 1 ends at 0 s, step 3 at 100.5, step 5 at 102.
    rates = [2 / 100.5, 2 / 1.5]
    assert read_rates(tmp_path) == [(3, pytest.approx(rates[0])), (5, pytest.approx(rates[1]))]
    assert lines() == [f"global_step/sec: {rate:g}" for rate in rates]


def test_without_a_folder_the_rate_is_only_logged(build, train, lines, tmp_path):
    train(build(), [StepCounterHook(1)], to=3)
    assert len(lines()) == 2
    assert not read_rates(tmp_path)


def test_by_default_every_hundred_steps_count():
    assert StepCounterHook().cadence.every_steps == 100


def test_a_resumed_run_does_not_count_the_time_between(tmp_path, build, train, clock):
    def pass_time(session):
        clock.now += 0.25

    for last_step in (2, 5):
        hook = StepCounterHook(1, output_dir=str(tmp_path))
        train(build(), [hook], to=last_step, each=pass_time, save_every=100)
        clock.now += 1000
    assert read_rates(tmp_path) == [(2, 4.0), (4, 4.0), (5, 4.0)]


def test_a_lost_session_does_not_count_its_restoring(tmp_path, build, train, clock):
    class Lose(tf.train.SessionRunHook):
        runs = 0

        def after_run(self, run_context, run_values):
            clock.now += 0.5
            self.runs += 1
            if self.runs == 3:
                clock.now += 1000
                raise tf.errors.AbortedError(None, None, "lost")

    hooks = [StepCounterHook(1, output_dir=str(tmp_path)), Lose()]
    train(build(), hooks, to=4, save_every=2)
    # Steps 1 and 2, 3 which is lost before it is told, 3 once more and 4.
    assert read_rates(tmp_path) == [(2, 2.0), (4, 2.0)]
