"""The worked example: data losses w.x with x = [1, 1] and [3, 5], penalty 10 sum(w), w = [1, 2].

With slim's model_deploy the total is (3 + 13) / 2 + 30 = 38 and the gradient [12, 13].
"""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame.deploy.clones import create_clones
from tf_frame.deploy.deployment_config import DeploymentConfig
from tf_frame.errors import PluginError, TfFrameError
from tf_frame.graph.gradients import clone_gradients, sum_gradients
from tf_frame.graph.losses import gather_losses
from tf_frame.plugin import ModelOutput


def example(inputs, *, collect, penalty=10.0):
    """Total loss and gradient of `w` with one clone per input."""
    rows = iter(inputs)

    def model_fn():
        w = tf.get_variable(
            "w",
            initializer=tf.constant([1.0, 2.0]),
            regularizer=lambda w: penalty * tf.reduce_sum(w) if penalty else None,
        )
        loss = tf.reduce_sum(w * next(rows))
        if collect:
            tf.add_to_collection(tf.GraphKeys.LOSSES, loss)
        return ModelOutput(loss=None if collect else loss)

    config = DeploymentConfig(num_clones=len(inputs), clone_on_cpu=True)
    with tf.Graph().as_default(), tf.Session() as session:
        clones = create_clones(config, model_fn)
        losses = gather_losses(clones)
        optimizer = tf.train.GradientDescentOptimizer(1.0)
        ((gradient, _),) = sum_gradients(clone_gradients(clones, losses.per_clone, optimizer))
        session.run(tf.global_variables_initializer())
        return session.run((losses.total, gradient))


@pytest.mark.parametrize("collect", [False, True])
def test_two_clones_average_data_losses_and_add_the_penalty_once(collect):
    total, gradient = example([[1.0, 1.0], [3.0, 5.0]], collect=collect)
    assert total == pytest.approx(38.0)
    np.testing.assert_allclose(gradient, [12.0, 13.0])


def test_one_clone():
    total, gradient = example([[3.0, 5.0]], collect=False)
    assert total == pytest.approx(13.0 + 30.0)
    np.testing.assert_allclose(gradient, [13.0, 15.0])


def test_without_regularisation_there_is_no_penalty():
    total, gradient = example([[1.0, 1.0], [3.0, 5.0]], collect=False, penalty=0.0)
    assert total == pytest.approx(8.0)
    np.testing.assert_allclose(gradient, [2.0, 3.0])


def test_eleven_clones_each_collect_their_own_losses():
    total, gradient = example([[float(i), 0.0] for i in range(11)], collect=True, penalty=0.0)
    assert total == pytest.approx(5.0)
    np.testing.assert_allclose(gradient, [5.0, 0.0])


def test_a_model_without_loss_is_told_how_to_add_one():
    with tf.Graph().as_default():
        clones = create_clones(DeploymentConfig(), ModelOutput)
        with pytest.raises(TfFrameError, match=r"ModelOutput\(loss=\.\.\.\).*GraphKeys.LOSSES"):
            gather_losses(clones)


def test_a_collected_loss_that_is_no_scalar_is_refused_with_its_shape():
    def model_fn():
        tf.add_to_collection(tf.GraphKeys.LOSSES, tf.ones([4, 2]))
        return ModelOutput()

    with tf.Graph().as_default():
        clones = create_clones(DeploymentConfig(), model_fn)
        with pytest.raises(PluginError, match=r"GraphKeys\.LOSSES has shape \(4, 2\)"):
            gather_losses(clones)
