"""N clones on a split batch take the step of one model on the whole batch.

The expected numbers come from `tf.gradients` on the whole batch, with nothing of the framework.
"""

import functools

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from pairwise import pairwise
from slow_cases import slow
from tf_frame.deploy.clones import create_clones
from tf_frame.deploy.deployment_config import DeploymentConfig
from tf_frame.deploy.placement import variables_placed
from tf_frame.gradient_transforms.freeze import Freeze
from tf_frame.graph.losses import gather_losses
from tf_frame.graph.update.all_reduce import sum_by_all_reduce
from tf_frame.graph.update.gradients import clone_gradients, sum_gradients, wait_for_loss
from tf_frame.layers import l2_regularizer
from tf_frame.plugin import ModelOutput
from tf_frame_legacy import model_deploy

RATE = 0.5
STEPS = 3
RANDOM = np.random.RandomState(3)
BATCH = (
    RANDOM.randint(0, 6, 8).astype(np.int32),
    RANDOM.randn(8, 3).astype(np.float32),
    RANDOM.randn(8, 2).astype(np.float32),
)
ALL = {"embedding/table", "base/weights", "base/biases", "head/weights", "head/biases"}


def fully_connected(inputs, units, scope, l2):
    with tf.variable_scope(scope):
        weights = tf.get_variable(
            "weights",
            initializer=initial_value([inputs.shape[-1], units]),
            regularizer=l2_regularizer(l2),
        )
        return tf.matmul(inputs, weights) + tf.get_variable("biases", initializer=tf.zeros([units]))


def initial_value(shape):
    return tf.constant(np.random.RandomState(shape[0]).randn(*shape).astype(np.float32) / 2)


def model_loss(words, features, targets, l2):
    with tf.variable_scope("embedding"):
        table = tf.get_variable("table", initializer=initial_value([6, 4]))
        inputs = tf.concat([tf.gather(table, words), features], axis=1)
    hidden = tf.tanh(fully_connected(inputs, 5, "base", l2))
    outputs = fully_connected(hidden, 2, "head", l2)
    loss = tf.reduce_mean(tf.square(outputs - targets))
    tf.losses.add_loss(loss)
    return loss


def trained(update, total_loss, steps=STEPS):
    """Returns the variables before and after some steps, and the losses of the steps."""
    variables = {v.op.name: v for v in tf.trainable_variables()}
    with tf.Session(config=tf.ConfigProto(device_count={"CPU": 4})) as session:
        session.run(tf.global_variables_initializer())
        start = session.run(variables)
        losses = []
        for _ in range(steps):
            losses.append(session.run(total_loss))
            session.run(update)
        return start, session.run(variables), losses


def named(prefixes):
    return [v for v in tf.trainable_variables() if v.op.name.startswith(tuple(prefixes))]


@functools.cache
def one_model(l2, scopes, steps=STEPS):
    """Returns the variables before and after the steps, and the losses of the steps."""
    with tf.Graph().as_default():
        model_loss(*map(tf.constant, BATCH), l2)
        total_loss = tf.losses.get_total_loss()
        variables = named(scopes)
        gradients = [tf.convert_to_tensor(g) for g in tf.gradients(total_loss, variables)]
        with tf.control_dependencies(gradients):
            update = [tf.assign_sub(v, RATE * g) for v, g in zip(variables, gradients, strict=True)]
        return trained(update, total_loss, steps)


def make_clones(num_clones, l2, **devices):
    pieces = iter(zip(*(np.split(array, num_clones) for array in BATCH), strict=True))
    config = DeploymentConfig(num_clones=num_clones, **(devices or {"clone_on_cpu": True}))

    def model_fn():
        return ModelOutput(loss=model_loss(*map(tf.constant, next(pieces)), l2))

    with variables_placed(config):
        return create_clones(config, model_fn)


def by_the_framework(clones, optimizer, variables):
    losses = gather_losses(clones)
    return losses.total, sum_gradients(
        clone_gradients(clones, losses.per_clone, optimizer, variables)
    )


def by_the_old_names(clones, optimizer, variables):
    return model_deploy.optimize_clones(clones, optimizer, var_list=variables)


def everything(pairs):
    return pairs


def without_base(pairs):
    return Freeze(params=Freeze.Params(patterns=("base/",)))(pairs)


# l2, prefixes of variables to train, transform of the gradients, scopes that are trained
CASES = {
    "plain": (0.0, [""], everything, ("embedding", "base", "head")),
    "regularised": (0.3, [""], everything, ("embedding", "base", "head")),
    "some variables": (0.3, ["head/", "embedding/"], everything, ("embedding", "head")),
    "a frozen scope": (0.3, [""], without_base, ("embedding", "head")),
    "only the embedding": (0.0, ["embedding/"], everything, ("embedding",)),
}
MODES = ("resource", "reference")
PAIRS = pairwise(CASES, (1, 2, 4), MODES)


def each_case(cases):
    names = ("case", "num_clones", "variable_mode")
    return pytest.mark.parametrize(names, cases, indirect=["variable_mode"])


@each_case(PAIRS)
def test_clones_take_the_step_of_one_model(case, num_clones, variable_mode):
    check_step(by_the_framework, num_clones, *CASES[case])


# The old names call the framework's steps, which are tested above.
@each_case([pytest.param(*pair, marks=() if pair[1] == 2 else pytest.mark.slow) for pair in PAIRS])
def test_so_they_do_by_the_old_names(case, num_clones, variable_mode):
    check_step(by_the_old_names, num_clones, *CASES[case])


def check_step(optimize, num_clones, l2, prefixes, transform, trained_scopes):
    start, expected, expected_losses = one_model(l2, trained_scopes)
    with tf.Graph().as_default():
        clones = make_clones(num_clones, l2)
        optimizer = tf.train.GradientDescentOptimizer(RATE)
        total_loss, pairs = optimize(clones, optimizer, named(prefixes))
        assert_the_embedding_is_sparse(pairs)
        _, values, losses = trained(optimizer.apply_gradients(transform(pairs)), total_loss)
    assert values.keys() == expected.keys() == ALL
    for name, value in values.items():
        np.testing.assert_allclose(value, expected[name], rtol=0, atol=1e-6)
        changed = np.abs(value - start[name]).max() > 1e-3
        assert changed == name.startswith(trained_scopes)
    np.testing.assert_allclose(losses, expected_losses, rtol=1e-6)


@pytest.mark.parametrize("add_up", [sum_gradients, None], ids=["sum", "all_reduce"])
@pytest.mark.parametrize("steps", [slow(1), 20])
@pytest.mark.usefixtures("variable_mode")
def test_clones_on_devices_of_their_own_take_the_steps_of_one_model(add_up, steps):
    _, expected, expected_losses = one_model(0.3, CASES["plain"][3], steps)
    with tf.Graph().as_default():
        clones = make_clones(2, 0.3, clone_device_type="CPU")
        assert [clone.device for clone in clones] == ["/device:CPU:0", "/device:CPU:1"]
        optimizer = tf.train.GradientDescentOptimizer(RATE)
        clone_losses = gather_losses(clones)
        gradients = clone_gradients(clones, clone_losses.per_clone, optimizer)
        summed = add_up(gradients) if add_up else sum_by_all_reduce(clones, gradients)
        update = optimizer.apply_gradients(wait_for_loss(clone_losses.total, summed))
        _, values, losses = trained(update, clone_losses.total, steps)
    for name, value in values.items():
        np.testing.assert_allclose(value, expected[name], rtol=0, atol=1e-5)
    np.testing.assert_allclose(losses, expected_losses, rtol=1e-5)


def assert_the_embedding_is_sparse(pairs):
    (gradient,) = [g for g, v in pairs if v.op.name == "embedding/table"]
    assert isinstance(gradient, tf.IndexedSlices)
    assert gradient.values.shape.as_list() == [8, 4]


@pytest.mark.slow
@pytest.mark.usefixtures("variable_mode")
def test_towers_of_deeplab_take_the_same_step_with_the_choices_for_them():
    """The gradients are averaged; only the first tower's gradient has the penalty."""
    with tf.Graph().as_default(), tf.Session() as session:
        clones = make_clones(4, 0.3)
        variables = named(["base/", "head/"])
        losses = gather_losses(clones, regularization="scaled", total="sum")
        optimizer = tf.train.GradientDescentOptimizer(RATE)
        pairs = sum_gradients(clone_gradients(clones, losses.per_clone, optimizer, variables))
        towers = [clone.outputs.loss for clone in clones]
        towers[0] += tf.losses.get_regularization_loss()
        tower_gradients = zip(*(tf.gradients(loss, variables) for loss in towers), strict=True)
        averages = [tf.reduce_mean(tf.stack(gradients), axis=0) for gradients in tower_gradients]
        reported = tf.losses.get_total_loss(add_regularization_losses=True)
        session.run(tf.global_variables_initializer())
        for (gradient, variable), average in zip(pairs, averages, strict=True):
            np.testing.assert_allclose(*session.run([gradient, average]), rtol=0, atol=1e-6)
            assert np.abs(session.run(average)).max() > 1e-3, variable
        total, expected = session.run([losses.total, reported])
    assert total == pytest.approx(expected, rel=1e-6)
