import pytest

from tf_frame.hooks.checkpoint import CheckpointHook
from tf_frame.hooks.stop_at_step import StopAtStepHook
from tf_frame.hooks.stop_on_signal import StopOnSignalHook


@pytest.mark.usefixtures("variable_mode")
@pytest.mark.parametrize("last_step", [1, 4])
def test_training_stops_exactly_at_the_last_step(build, train, last_step):
    graph, steps = build(), []
    train(graph, [StopAtStepHook(last_step)], to=9, each=lambda _: steps.append(1))
    assert len(steps) == last_step


def test_the_last_step_counts_from_the_beginning_of_the_run(tmp_path, build, train):
    for last_step, expected in ((3, 3), (5, 2)):
        graph, steps = build(), []
        hook = CheckpointHook(str(tmp_path), graph.scaffold, every_steps=100)
        train(graph, [hook], to=last_step, each=lambda _, steps=steps: steps.append(1))
        assert len(steps) == expected


def test_a_signal_stops_after_the_step_that_it_arrives_in(build, train):
    steps = []
    stop = StopOnSignalHook(lambda: len(steps) == 2)
    train(build(), [stop], to=9, each=lambda _: steps.append(1))
    assert len(steps) == 3


def test_without_a_signal_training_goes_on(build, train):
    steps = []
    train(build(), [StopOnSignalHook(lambda: None)], to=4, each=lambda _: steps.append(1))
    assert len(steps) == 4
