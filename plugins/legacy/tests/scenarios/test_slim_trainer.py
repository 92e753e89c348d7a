"""slim's trainer as it was written, with another import; it reads one queue."""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame_legacy import model_deploy

pytestmark = pytest.mark.usefixtures("graph", "variable_mode", "control_flow_of_v1")


def slim_trainer(linear, num_clones):
    """research/slim/train_image_classifier.py; --batch_size counts for each clone."""
    deploy_config = model_deploy.DeploymentConfig(num_clones=num_clones, clone_on_cpu=True)
    with tf.device(deploy_config.variables_device()):
        global_step = tf.train.create_global_step()
    with tf.device(deploy_config.inputs_device()):
        batch_queue = linear.queue(range(8), 8 // num_clones)

    def clone_fn(batch_queue):
        with tf.device(deploy_config.inputs_device()):
            features, targets = batch_queue.dequeue()
        linear.add_loss(features, targets)

    summaries = set(tf.get_collection(tf.GraphKeys.SUMMARIES))
    clones = model_deploy.create_clones(deploy_config, clone_fn, [batch_queue])
    first_clone_scope = deploy_config.clone_scope(0)
    update_ops = tf.get_collection(tf.GraphKeys.UPDATE_OPS, first_clone_scope)
    averages = tf.train.ExponentialMovingAverage(0.5)
    with tf.device(deploy_config.optimizer_device()):
        optimizer = tf.train.GradientDescentOptimizer(0.5)
        summaries.add(tf.summary.scalar("learning_rate", 0.5))
    update_ops.append(averages.apply(tf.model_variables()))
    total_loss, grads_and_vars = model_deploy.optimize_clones(
        clones, optimizer, var_list=tf.trainable_variables()
    )
    summaries.add(tf.summary.scalar("total_loss", total_loss))
    update_ops.append(optimizer.apply_gradients(grads_and_vars, global_step=global_step))
    with tf.control_dependencies([tf.group(*update_ops)]):
        train_tensor = tf.identity(total_loss, name="train_op")
    summaries |= set(tf.get_collection(tf.GraphKeys.SUMMARIES, first_clone_scope))
    return train_tensor, tf.summary.merge(list(summaries), name="summary_op"), averages


@pytest.mark.parametrize("num_clones", [1, 2])
def test_slims_trainer_reads_one_queue(linear, in_session, num_clones):
    train_tensor, summary_op, averages = slim_trainer(linear, num_clones)
    assert summary_op.op.name == "summary_op/summary_op"
    with in_session() as session:
        loss = session.run(train_tensor)
        linear.check_first_step(loss, rate=0.5)
        assert session.run(tf.train.get_global_step()) == 1
        summary = tf.Summary.FromString(session.run(summary_op))
        session.run(train_tensor)
        average = session.run(averages.average(tf.trainable_variables()[0]))
    assert np.abs(average - linear.start[0]).max() > 1e-3
    of_clones = {
        1: ["Losses/clone_loss", "Losses/regularization_loss"],
        2: ["clone_0/Losses/clone_0//clone_loss", "clone_0/Losses/regularization_loss"],
    }
    of_input = ["batch/fraction_of_16_full", "input_producer/fraction_of_32_full"]
    of_all = [*of_input, "learning_rate", "total_loss_1"]
    assert sorted(value.tag for value in summary.value) == sorted([*of_clones[num_clones], *of_all])
