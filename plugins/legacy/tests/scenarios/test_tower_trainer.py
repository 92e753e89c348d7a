"""DeepLab's trainer with towers of 2019, written out, and a run with the options that replace it.

research/deeplab/train.py: a tower per GPU, each with its own batch; the gradients are averaged,
only those of the first tower have the regularisation; the update ops of all towers run.
"""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from slow_cases import slow_but
from tf_frame.cluster.find import find_cluster
from tf_frame.config.run_options import RunOptions
from tf_frame.deploy.session_config import make_deployment, session_config
from tf_frame.plugin import InputContext, InputInfo, Mode
from tf_frame.testing.toy import ToyInput, ToyModel, build_toy_graph

pytestmark = pytest.mark.usefixtures("graph")
L2 = 0.8
OPTIONS = {"regularization": "scaled", "total_loss": "sum", "update_ops": "all_clones"}


class CountingModel(ToyModel):
    """Its update op counts the towers that run their update ops."""

    def build(self, features, labels, mode):
        output = super().build(features, labels, mode)
        counter = tf.get_variable(
            "counter", [], trainable=False, initializer=tf.zeros_initializer()
        )
        update = tf.assign_add(counter, 1.0, use_locking=True)
        tf.add_to_collection(tf.GraphKeys.UPDATE_OPS, update)
        tf.losses.add_loss(output.loss)
        return output


def model():
    return CountingModel(params=CountingModel.Params(l2=L2), info=InputInfo())


def tower_loss(iterator, scope, reuse_variable):
    with tf.variable_scope(tf.get_variable_scope(), reuse=True if reuse_variable else None):
        model().build(*iterator.get_next(), Mode.TRAIN)
    losses = tf.losses.get_losses(scope=scope)
    return tf.add_n([*losses, tf.losses.get_regularization_loss(scope=scope)])


def average_gradients(tower_grads):
    return [
        (tf.reduce_mean(tf.stack([gradient for gradient, _ in of_one]), axis=0), of_one[0][1])
        for of_one in zip(*tower_grads, strict=True)
    ]


def train_tower_model(num_towers):
    source = ToyInput(params=ToyInput.Params())
    dataset = source.dataset(Mode.TRAIN, InputContext(batch_size=8 // num_towers))
    iterator = tf.data.make_one_shot_iterator(dataset)
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    tower_grads = []
    for index in range(num_towers):
        with tf.name_scope(f"clone_{index}" if index else "") as scope:
            loss = tower_loss(iterator, scope, reuse_variable=index != 0)
            tower_grads.append(optimizer.compute_gradients(loss))
    total_loss = tf.losses.get_total_loss(add_regularization_losses=True)
    updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    # Not so in DeepLab: there the penalty in the loss may be that from after the update.
    with tf.control_dependencies([total_loss]):
        updates.append(optimizer.apply_gradients(average_gradients(tower_grads)))
    with tf.control_dependencies([tf.group(*updates)]):
        return tf.identity(total_loss)


def run(session, train_op, steps=3):
    """Values of the variables, and the losses that were reported."""
    session.run(tf.global_variables_initializer())
    session.run(tf.tables_initializer())
    losses = [session.run(train_op) for _ in range(steps)]
    names = ["linear/weights", "linear/biases", "counter"]
    variables = {v.op.name: v for v in tf.global_variables()}
    return losses, session.run([variables[name] for name in names])


def by_options(num_clones, **options):
    config = RunOptions(learning_rate=0.1, train_batch_size=8, num_clones=num_clones, **options)
    train_graph = build_toy_graph(config, model=model(), optimizer="sgd")
    proto = session_config(config, make_deployment(config, find_cluster(config)))
    with train_graph.graph.as_default(), tf.Session(config=proto) as session:
        session.run(tf.local_variables_initializer())
        return run(session, train_graph.train_op)


@pytest.mark.usefixtures("variable_mode")
@pytest.mark.parametrize("num_towers", slow_but(1, [1, 2, 4]))
def test_options_take_the_steps_of_towers(num_towers):
    train_op = train_tower_model(num_towers)
    with tf.Session() as session:
        losses, (weights, biases, counter) = run(session, train_op)
    option_losses, option_values = by_options(num_towers, **OPTIONS)
    np.testing.assert_allclose(option_losses, losses, rtol=1e-5)
    np.testing.assert_allclose(option_values[0], weights, atol=1e-6)
    np.testing.assert_allclose(option_values[1], biases, atol=1e-6)
    assert counter == option_values[2] == 3 * num_towers


@pytest.mark.slow
@pytest.mark.parametrize("option", slow_but(0, sorted(OPTIONS)))
def test_each_option_makes_a_difference(option):
    options = {name: value for name, value in OPTIONS.items() if name != option}
    with_all, values = by_options(2, **OPTIONS)
    without, other_values = by_options(2, **options)
    assert (np.abs(np.subtract(with_all, without)).max() > 1e-3) == (option != "update_ops")
    assert (np.abs(values[0] - other_values[0]).max() > 1e-3) == (option == "regularization")
    assert (values[2] != other_values[2]) == (option == "update_ops")
