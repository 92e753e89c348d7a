"""Warm-up; the reference numbers were measured with both generations of DeepLab."""

import pytest
import tensorflow.compat.v1 as tf

from tf_frame import ScheduleContext
from tf_frame.config.run_options import RunOptions
from tf_frame.learning_rates.context import schedule_context
from tf_frame.learning_rates.exponential import Exponential, Step
from tf_frame.learning_rates.fixed import Fixed
from tf_frame.learning_rates.poly import Poly
from tf_frame.learning_rates.warmup import learning_rate

DEEPLAB = {
    "learning_rate": 0.007,
    "max_steps": 30000,
    "warmup_steps": 100,
    "warmup_learning_rate": 1e-4,
}
STEPS = (0, 50, 100, 1000, 2000, 15000, 30000)
OLD_POLY = (1e-4, 1e-4, 0.0069789966, 0.0067896456, 0.0065785651, 0.0037512074, 0)
OLD_STEP = (1e-4, 1e-4, 0.007, 0.007, 0.0007, 7e-10, 7e-18)
NEW_POLY = (1e-4, 1e-4, 0.007, 0.0068100793, 0.0065983632, 0.0037624969, 0)
NEW_STEP = (1e-4, 1e-4, 0.007, 0.007, 0.007, 7e-10, 7e-17)
NEW_POLY_BURN_IN = (1e-4, 0.00355, *NEW_POLY[2:])


def run_rates(cls, steps, num_examples=None, options=None, dtype=tf.int64, **run_options):
    config = RunOptions(**run_options)
    schedule = cls(
        params=cls.Params(**(options or {})), context=schedule_context(config, num_examples)
    )
    with tf.Graph().as_default(), tf.Session() as session:
        step = tf.placeholder(dtype, [])
        rate = learning_rate(schedule, config=config, global_step=step)
        assert rate.op.name == "learning_rate" and rate.shape == []
        return [float(session.run(rate, {step: number})) for number in steps]


@pytest.mark.parametrize(
    ("cls", "options", "expected"),
    [
        (Poly, {"decay_start": "step_0"}, OLD_POLY),
        (Step, {"decay_start": "step_0"}, OLD_STEP),
        (Poly, {}, NEW_POLY),
        (Step, {}, NEW_STEP),
        (Poly, {"warmup": "linear"}, NEW_POLY_BURN_IN),
    ],
    ids=["old-poly", "old-step", "new-poly", "new-step", "new-poly-burn-in"],
)
def test_deeplabs_learning_rates(cls, options, expected):
    values = run_rates(cls, STEPS, **DEEPLAB, **options)
    assert values == pytest.approx(list(expected), rel=1e-5, abs=1e-20)
    assert values == pytest.approx(list(expected), abs=1e-9)


def test_the_warm_ups_and_decays_of_slim_and_object_detection():
    # slim's int(100 examples / batch 8 * 2 epochs) = 25 steps per decay.
    run = {"learning_rate": 0.01, "train_batch_size": 8}
    values = run_rates(Exponential, [0, 24, 25, 50], num_examples=100, **run)
    assert values == pytest.approx([0.01, 0.01, 0.0094, 0.008836])
    # slim's min(lr * step / warm-up steps, lr).
    run = {"learning_rate": 0.08, "warmup": "linear", "warmup_learning_rate": 0}
    values = run_rates(Fixed, [0, 1, 4, 8, 9], warmup_steps=8, **run)
    assert values == pytest.approx([0, 0.01, 0.04, 0.08, 0.08])
    # object_detection's where(step < burnin, burnin rate, exponential_decay(step - burnin)).
    options = {"decay_steps": 3, "decay_factor": 0.1, "min_learning_rate": 0.02}
    run = {"learning_rate": 1.0, "warmup_steps": 2, "warmup_learning_rate": 0.5}
    values = run_rates(Exponential, [0, 1, 2, 4, 5, 7, 8], options=options, **run)
    assert values == pytest.approx([0.5, 0.5, 1.0, 1.0, 0.1, 0.1, 0.02])


def test_an_exponential_warm_up_multiplies_by_the_same_factor_in_every_step():
    run = {"learning_rate": 0.1, "warmup": "exponential", "warmup_learning_rate": 1e-4}
    values = run_rates(Fixed, [0, 1, 2, 3, 4], warmup_steps=3, **run)
    assert values == pytest.approx([1e-4, 1e-3, 1e-2, 1e-1, 1e-1], rel=1e-5)


@pytest.mark.parametrize("warmup", ["constant", "linear", "exponential"])
def test_without_warm_up_steps_the_kind_of_warm_up_does_not_matter(warmup):
    run = {"learning_rate": 0.1, "warmup": warmup, "warmup_learning_rate": 0.0}
    assert run_rates(Fixed, [0, 1], dtype=tf.int32, **run) == pytest.approx([0.1, 0.1])


def test_the_learning_rate_follows_the_global_step(variable_mode):
    config = RunOptions(learning_rate=0.1, max_steps=10)
    with tf.Graph().as_default(), tf.Session() as session:
        step = tf.train.create_global_step()
        schedule = Poly(params=Poly.Params(power=1), context=schedule_context(config, None))
        rate = learning_rate(schedule, config=config, global_step=step)
        session.run(tf.global_variables_initializer())
        before = session.run(rate)
        session.run(step.assign_add(5))
        assert [before, session.run(rate)] == pytest.approx([0.1, 0.05])


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, 1000),
        ({"warmup_steps": 100}, 900),
        ({"warmup_steps": 100, "decay_start": "step_0"}, 1000),
        ({"warmup_steps": 1000}, 1),
        ({"warmup_steps": 5000}, 1),
    ],
)
def test_the_schedule_has_the_steps_after_the_warm_up_unless_it_begins_at_step_0(options, expected):
    assert schedule_context(RunOptions(max_steps=1000, **options), None).num_steps == expected


@pytest.mark.parametrize(
    ("decay_start", "expected"), [("after_warmup", [0, 0, 0, 1]), ("step_0", [0, 1, 3, 4])]
)
def test_the_schedule_never_sees_a_negative_step(decay_start, expected):
    config = RunOptions(warmup_steps=3, decay_start=decay_start)
    steps = []
    with tf.Graph().as_default(), tf.Session() as session:
        step = tf.placeholder(tf.int64, [])
        learning_rate(lambda at: steps.append(at) or at, config=config, global_step=step)
        assert steps[0].dtype == tf.float32
        assert [session.run(steps[0], {step: number}) for number in (0, 1, 3, 4)] == expected


def test_the_context_has_the_learning_rate_and_accumulated_batches_make_one_step():
    context = schedule_context(RunOptions(learning_rate=0.3, max_steps=7), None)
    assert context == ScheduleContext(learning_rate=0.3, num_steps=7, steps_per_epoch=None)
    config = RunOptions(train_batch_size=8)
    assert schedule_context(config, 200, batches_per_step=4).steps_per_epoch == 6.25


CLUSTER = {"master": "grpc://localhost:1", "num_ps_tasks": 1, "worker_replicas": 5}


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, 25.0),
        ({"num_clones": 2}, 25.0),
        ({"num_clones": 2, "batch_size_scope": "clone"}, 12.5),
        (CLUSTER, 25.0),
        ({**CLUSTER, "replicas_to_aggregate": 2}, 25.0),
        ({**CLUSTER, "sync_replicas": True}, 5.0),
        ({**CLUSTER, "sync_replicas": True, "replicas_to_aggregate": 2}, 12.5),
    ],
)
def test_an_epoch_has_as_many_steps_as_batches_that_make_an_update(options, expected):
    config = RunOptions(train_batch_size=8, **options)
    assert schedule_context(config, 200).steps_per_epoch == expected


def test_the_decay_steps_of_the_inception_trainer():
    # int(num_examples / batch_size * num_epochs_per_decay / num_replicas_to_aggregate)
    config = RunOptions(train_batch_size=32, sync_replicas=True, **CLUSTER)
    schedule = Exponential(params=Exponential.Params(), context=schedule_context(config, 1281167))
    assert schedule.decay_steps == int(1281167 / 32 * 2.0 / 5) == 16014
