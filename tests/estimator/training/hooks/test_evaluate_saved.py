"""The listener that evaluates what a run of the command line saves."""

from tf_frame.estimator.training.hooks import EvaluateSaved
from tf_frame.hooks.training_clock import training_clock


def test_what_is_saved_between_the_first_and_the_last_step_is_evaluated():
    steps = []
    listener = EvaluateSaved(steps.append, first_step=10, last_step=40)
    for step in (10, 20, 30, 40):
        listener.after_save(None, step)
    assert steps == [20, 30]


def test_the_clock_of_training_stands_still_meanwhile():
    readings = []

    def evaluate(step):
        readings.extend(training_clock() for _ in range(100))

    EvaluateSaved(evaluate, first_step=0, last_step=9).after_save(None, 5)
    assert len(readings) == 100 and len(set(readings)) == 1
