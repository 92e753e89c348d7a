import re

import pytest
import tensorflow.compat.v1 as tf

from slow_cases import slow_but
from tf_frame import layers
from tf_frame.deploy.clones import create_clones
from tf_frame.deploy.deployment_config import DeploymentConfig
from tf_frame.deploy.placement import variables_placed
from tf_frame.errors import TfFrameError

pytestmark = pytest.mark.usefixtures("graph")


def fully_connected(inputs, units, *, activation=None):
    with tf.variable_scope("fully_connected"):
        weights = tf.get_variable("weights", [inputs.shape[-1], units])
        biases = tf.get_variable("biases", [units], initializer=tf.zeros_initializer())
        outputs = tf.matmul(inputs, weights) + biases
        return outputs if activation is None else activation(outputs, name=activation.__name__)


def logistic_classifier(inputs, labels):
    with tf.variable_scope("LogisticClassifier"):
        predictions = fully_connected(inputs, 1, activation=tf.sigmoid)
        tf.losses.log_loss(labels, predictions)
        return predictions


def batch_norm_classifier(inputs, labels):
    with tf.variable_scope("BatchNormClassifier"):
        rows = layers.batch_norm(inputs[:, None, None, :], is_training=True, decay=0.1)
        predictions = fully_connected(rows[:, 0, 0, :], 1, activation=tf.sigmoid)
        tf.losses.log_loss(labels, predictions)
        return predictions


def build_clones(classifier, config):
    inputs = tf.constant([[1.0, 2.0, 3.0, 4.0]] * 4)
    labels = tf.constant([[0.0]] * 4)
    with variables_placed(config):
        return create_clones(config, classifier, (inputs, labels))


@pytest.mark.parametrize("num_clones", [1, 2, 4])
def test_the_model_function_is_called_once_per_clone_with_all_arguments(num_clones):
    calls = []
    clones = create_clones(
        DeploymentConfig(num_clones=num_clones),
        lambda *args, **kwargs: calls.append((args, kwargs)) or len(calls),
        ["a", 1],
        {"name": "b"},
    )
    assert calls == [(("a", 1), {"name": "b"})] * num_clones
    assert [clone.outputs for clone in clones] == list(range(1, num_clones + 1))


def test_a_single_clone_has_neither_scope_nor_arguments():
    (clone,) = create_clones(DeploymentConfig(), lambda: 3, None, None)
    assert tuple(clone) == (3, "", "/device:GPU:0")


@pytest.mark.usefixtures("variable_mode")
@pytest.mark.parametrize(
    "num_clones",
    [1, pytest.param(2, marks=pytest.mark.slow), 4, pytest.param(11, marks=pytest.mark.slow)],
)
def test_variables_are_made_once_and_without_a_prefix(num_clones):
    config = DeploymentConfig(num_clones=num_clones)
    build_clones(batch_norm_classifier, config)
    assert [v.op.name for v in tf.global_variables()] == [
        "BatchNormClassifier/BatchNorm/beta",
        "BatchNormClassifier/BatchNorm/moving_mean",
        "BatchNormClassifier/BatchNorm/moving_variance",
        "BatchNormClassifier/fully_connected/weights",
        "BatchNormClassifier/fully_connected/biases",
    ]


@pytest.mark.parametrize("num_clones", [1, 2, 4])
def test_operations_are_named_after_their_clone(num_clones):
    clones = build_clones(logistic_classifier, DeploymentConfig(num_clones=num_clones))
    scopes = [f"clone_{i}/" for i in range(num_clones)] if num_clones > 1 else [""]
    assert [clone.scope for clone in clones] == scopes
    assert [clone.outputs.op.name for clone in clones] == [
        f"{scope}LogisticClassifier/fully_connected/sigmoid" for scope in scopes
    ]


@pytest.mark.parametrize(
    ("classifier", "num_clones", "updates"),
    slow_but(
        (0, 2),
        [
            (logistic_classifier, 4, 0),
            (batch_norm_classifier, 1, 2),
            (batch_norm_classifier, 2, 4),
            (batch_norm_classifier, 4, 8),
            (batch_norm_classifier, 11, 22),
        ],
        several=True,
    ),
)
def test_every_clone_adds_its_own_losses_and_updates(classifier, num_clones, updates):
    clones = build_clones(classifier, DeploymentConfig(num_clones=num_clones))
    assert len(tf.losses.get_losses()) == num_clones
    assert len(tf.get_collection(tf.GraphKeys.UPDATE_OPS)) == updates
    for clone in clones:
        assert len(tf.get_collection(tf.GraphKeys.LOSSES, clone.scope or None)) == 1
        of_clone = tf.get_collection(tf.GraphKeys.UPDATE_OPS, clone.scope or None)
        assert len(of_clone) == updates / num_clones


@pytest.mark.parametrize("config", [{}, {"num_ps_tasks": 2}])
def test_every_clone_computes_on_its_device(config):
    deployment = DeploymentConfig(num_clones=2, **config)
    clones = build_clones(logistic_classifier, deployment)
    job = "/job:worker" if config else ""
    assert [clone.device for clone in clones] == [f"{job}/device:GPU:{i}" for i in range(2)]
    assert [clone.outputs.device for clone in clones] == [clone.device for clone in clones]


def test_a_clone_cannot_get_a_variable_that_the_first_one_has_not_made():
    names = iter(["first", "second"])
    with pytest.raises(ValueError, match="second"):
        create_clones(
            DeploymentConfig(num_clones=2),
            lambda: tf.get_variable(next(names), [], trainable=False),
        )


def with_a_variable_of_its_own():
    shared = tf.get_variable("shared", [])
    return shared * tf.Variable(1.0, name="own")


def test_a_clone_that_trains_a_variable_of_its_own_is_an_error():
    with pytest.raises(TfFrameError, match=r"clone 0 alone: clone_0/own; .*get_variable"):
        create_clones(DeploymentConfig(num_clones=2), with_a_variable_of_its_own)


@pytest.mark.parametrize(
    ("num_clones", "options", "names"),
    [
        (1, {}, ["shared", "own"]),
        (2, {"allow_own_variables": True}, ["shared", "clone_0/own", "clone_1/own"]),
    ],
)
def test_a_single_clone_or_an_option_allows_variables_of_its_own(num_clones, options, names):
    create_clones(DeploymentConfig(num_clones), with_a_variable_of_its_own, **options)
    assert [v.op.name for v in tf.trainable_variables()] == names


def test_counters_that_are_not_trained_may_be_a_clones_own():
    def counting():
        return tf.metrics.mean(tf.constant([1.0, 2.0]))

    create_clones(DeploymentConfig(num_clones=2), counting)
    names = [v.op.name for v in tf.local_variables()]
    assert len([name for name in names if re.match("clone_1/", name)]) == 2


def test_clones_join_the_variable_scope_around_them():
    with tf.variable_scope("tower"):
        clones = create_clones(DeploymentConfig(num_clones=2), lambda: tf.get_variable("w", []))
    assert [v.op.name for v in tf.global_variables()] == ["tower/w"]
    assert clones[0].outputs is clones[1].outputs
