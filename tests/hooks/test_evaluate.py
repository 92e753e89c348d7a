import io

import pytest
import tensorflow.compat.v1 as tf

from acting_hooks import Tick
from tf_frame.checkpoint.find.newest import newest_checkpoint, read_step
from tf_frame.hooks.by_name.early_stopping import stop_if_lower
from tf_frame.hooks.checkpoint import CheckpointHook
from tf_frame.hooks.evaluate import EvaluateHook
from tf_frame.hooks.progress import ProgressHook
from tf_frame.hooks.throughput import ThroughputHook


@pytest.mark.parametrize(
    ("every_steps", "last_step", "to", "evaluated"),
    [
        (3, 9, 9, [3, 6]),
        (3, None, 6, [3, 6]),  # Nothing is evaluated at the end.
        (1, 4, 4, [1, 2, 3]),
        (5, 20, 4, []),
    ],
)
def test_it_evaluates_at_multiples_but_not_at_the_last_step(
    build, train, every_steps, last_step, to, evaluated
):
    hook = EvaluateHook(lambda s: {"loss": 1.0 / s}, every_steps=every_steps, last_step=last_step)
    train(build(), [hook], to=to)
    assert hook.results == {step: {"loss": 1.0 / step} for step in evaluated}


def test_a_resumed_run_evaluates_at_the_same_multiples(build, train):
    evaluated = []
    for to in (4, 11):
        hook = EvaluateHook(lambda s: evaluated.append(s) or {}, every_steps=3, last_step=to)
        train(build(), [hook], to=to, save_every=100)
    assert evaluated == [3, 6, 9]


def test_early_stopping_sees_the_evaluation_of_its_step(build, train):
    hook = EvaluateHook(lambda step: {"loss": 1.0 / step}, every_steps=2, last_step=20)
    stop = stop_if_lower("loss", 0.2, lambda: hook.results, run_every_secs=None, run_every_steps=1)
    assert train(build(), [stop, hook], to=20) == 6
    assert list(hook.results) == [2, 4, 6]


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


@pytest.mark.parametrize("asynchronous", [False, True])
def test_by_time_it_evaluates_steps_that_are_saved_for_it(
    build, train, clock, tmp_path, asynchronous
):
    evaluated = []

    def evaluate(step):
        saver.wait()
        evaluated.append((step, read_step(newest_checkpoint(str(tmp_path)))))
        clock.now += 1000  # The next interval begins after the evaluation.
        return {}

    graph = build()
    hook = EvaluateHook(
        evaluate,
        every_steps=None,
        every_secs=5,
        last_step=12,
        is_saved=lambda step: saver.saved_step == step,
    )
    saver = CheckpointHook(
        str(tmp_path),
        graph.scaffold,
        every_secs=10**6,
        follows=hook.times,
        asynchronous=asynchronous,
    )
    train(graph, [saver, hook, Tick(clock, [2] * 12)], to=12)
    # After three steps, the next one is saved and evaluated.
    assert evaluated == [(4, 4), (8, 8)]


def test_by_time_it_waits_for_a_step_that_is_saved(build, train, clock):
    saved = (2, 5, 6, 9)
    hook = EvaluateHook(
        lambda step: {}, every_steps=None, every_secs=5, last_step=9, is_saved=saved.__contains__
    )
    train(build(), [hook, Tick(clock, [2] * 8)], to=8)
    # Five seconds are over at step 3; after step 5, at step 8, which is not saved.
    assert list(hook.results) == [5]


def test_a_number_of_steps_that_cannot_be_is_refused():
    with pytest.raises(ValueError, match="every_steps is 0; it must be positive"):
        EvaluateHook(lambda step: {}, every_steps=0, last_step=9)
