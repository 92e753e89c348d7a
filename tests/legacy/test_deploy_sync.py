"""`deploy` with a `tf.train.SyncReplicasOptimizer`: the chief updates beside the steps."""

import pytest
import tensorflow.compat.v1 as tf

from tf_frame.legacy import model_deploy

pytestmark = [pytest.mark.usefixtures("graph"), pytest.mark.timeout(60)]


def counted_model():
    """A model that counts how often its loss is computed."""
    weights = tf.get_variable("weights", initializer=tf.constant(1.0))
    count = tf.get_variable("count", initializer=tf.constant(0.0), trainable=False)
    with tf.control_dependencies([tf.assign_add(count, 1.0)]):
        tf.losses.add_loss(tf.identity(2.0 * weights))
    return count


@pytest.mark.usefixtures("variable_mode")
def test_the_chief_computes_no_loss_of_its_own():
    optimizer = tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(0.25), 1)
    config = model_deploy.DeploymentConfig(clone_on_cpu=True)
    model = model_deploy.deploy(config, counted_model, optimizer=optimizer)
    (weights,), count = tf.trainable_variables(), model.clones[0].outputs
    tokens = optimizer.get_init_tokens_op(1)
    update = optimizer.get_chief_queue_runner().enqueue_ops
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        session.run([optimizer.chief_init_op, tokens])
        assert session.run(model.train_op) == pytest.approx(2.0)
        session.run(update)
        assert session.run([weights, count]) == [0.5, 1.0]
