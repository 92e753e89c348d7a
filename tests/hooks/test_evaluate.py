import io

import pytest
import tensorflow.compat.v1 as tf

from acting_hooks import Tick
from tf_frame.hooks.base import Phase
from tf_frame.hooks.by_name.early_stopping import stop_if_lower
from tf_frame.hooks.checkpoint import CheckpointHook
from tf_frame.hooks.evaluate import EvaluateHook
from tf_frame.hooks.progress import ProgressHook
from tf_frame.hooks.throughput import ThroughputHook


def test_it_evaluates_at_multiples_but_not_at_the_last_step(build, train):
    hook = EvaluateHook(lambda step: {"loss": 1.0 / step}, every_steps=3, last_step=9)
    train(build(), [hook], to=9)
    assert hook.results == {3: {"loss": 1 / 3}, 6: {"loss": 1 / 6}}


def test_the_last_step_counts_where_nothing_is_evaluated_at_the_end(build, train):
    hook = EvaluateHook(lambda step: {}, every_steps=3, last_step=None)
    train(build(), [hook], to=6)
    assert list(hook.results) == [3, 6]


def test_the_first_step_is_evaluated_only_if_it_is_a_multiple(build, train):
    hook = EvaluateHook(lambda step: {}, every_steps=1, last_step=4)
    train(build(), [hook], to=4)
    assert list(hook.results) == [1, 2, 3]


def test_a_resumed_run_evaluates_at_the_same_multiples(tmp_path, build, train):
    evaluated = []
    for to in (4, 11):
        graph = build()
        save = CheckpointHook(str(tmp_path), graph.scaffold, every_steps=100)
        hook = EvaluateHook(lambda s: evaluated.append(s) or {}, every_steps=3, last_step=to)
        train(graph, [hook, save], to=to)
    assert evaluated == [3, 6, 9]


def test_a_stop_before_a_multiple_evaluates_nothing(build, train):
    hook = EvaluateHook(lambda step: {}, every_steps=5, last_step=20)
    train(build(), [hook], to=4)
    assert hook.results == {}


def test_it_comes_after_saving_and_before_stopping():
    assert Phase.SAVE < EvaluateHook.phase < Phase.STOP


def test_early_stopping_sees_the_evaluation_of_its_step(build, train):
    steps = []
    hook = EvaluateHook(lambda step: {"loss": 1.0 / step}, every_steps=2, last_step=20)
    stop = stop_if_lower("loss", 0.2, lambda: hook.results, run_every_secs=None, run_every_steps=1)
    train(build(), [stop, hook], to=20, each=lambda session: steps.append(1))
    assert (len(steps), list(hook.results)) == (6, [2, 4, 6])


def test_the_time_of_an_evaluation_counts_in_no_rate(build, train, clock):
    def evaluate(step):
        clock.now += 1000
        return {}

    graph = build()
    progress = ProgressHook(
        graph.train_op, last_step=7, examples_per_step=8, every_steps=3, out=io.StringIO()
    )
    throughput = ThroughputHook(examples_per_step=8, every_steps=3, warmup_steps=1)
    hook = EvaluateHook(evaluate, every_steps=3, last_step=7)
    train(graph, [throughput, progress, hook, Tick(clock, [2] * 7)], to=7)
    assert list(hook.results) == [3, 6]
    assert progress.steps_per_sec == pytest.approx(0.5)
    assert throughput.throughput.mean == pytest.approx(0.5)


def test_what_the_evaluation_raises_ends_training(build, train):
    def evaluate(step):
        raise tf.errors.NotFoundError(None, None, "no checkpoint")

    with pytest.raises(tf.errors.NotFoundError, match="no checkpoint"):
        train(build(), [EvaluateHook(evaluate, every_steps=2, last_step=9)], to=9)


def test_a_number_of_steps_that_cannot_be_is_refused():
    with pytest.raises(ValueError, match="every_steps is 0; it must be positive"):
        EvaluateHook(lambda step: {}, every_steps=0, last_step=9)
