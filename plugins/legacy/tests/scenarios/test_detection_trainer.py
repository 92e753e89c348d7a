"""The Object Detection API's trainer with other imports; it reads a list of queues."""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame_legacy import model_deploy, variables_helper

pytestmark = pytest.mark.usefixtures("graph", "variable_mode", "control_flow_of_v1")


def detection_trainer(linear, num_clones, config):
    """research/object_detection/legacy/trainer.py, with a queue for each of several inputs."""
    deploy_config = model_deploy.DeploymentConfig(num_clones, clone_on_cpu=True)
    with tf.device(deploy_config.variables_device()):
        global_step = tf.train.create_global_step()
    with tf.device(deploy_config.inputs_device()), tf.name_scope("Input"):
        input_queue_list = [
            linear.queue(rows, batch_size // num_clones)
            for rows, batch_size in zip(config["rows"], config["batch_size"], strict=True)
        ]

    def model_fn(input_queue_list):
        batches = [queue.dequeue() for queue in input_queue_list]
        features, targets = (tf.concat(parts, axis=0) for parts in zip(*batches, strict=True))
        assert features.shape[0] == sum(config["batch_size"]) // num_clones
        linear.add_loss(features, targets)

    summaries = set(tf.get_collection(tf.GraphKeys.SUMMARIES))
    clones = model_deploy.create_clones(deploy_config, model_fn, [input_queue_list])
    first_clone_scope = clones[0].scope
    update_ops = tf.get_collection(tf.GraphKeys.UPDATE_OPS, first_clone_scope)
    with tf.device(deploy_config.optimizer_device()), tf.name_scope("Optimizer"):
        optimizer = tf.train.GradientDescentOptimizer(0.5)
    with tf.device(deploy_config.optimizer_device()), tf.variable_scope("OptimizeClones"):
        regularization_losses = None if config["add_regularization_loss"] else []
        total_loss, grads_and_vars = model_deploy.optimize_clones(
            clones, optimizer, regularization_losses=regularization_losses
        )
        total_loss = tf.check_numerics(total_loss, "LossTensor is inf or nan.")
        grads_and_vars = variables_helper.multiply_gradients_matching_regex(
            grads_and_vars, [r".*bias(?:es)?", r".*beta"], config["bias_grad_multiplier"]
        )
        grads_and_vars = variables_helper.freeze_gradients_matching_regex(
            grads_and_vars, config["freeze_variables"]
        )
        update_ops.append(optimizer.apply_gradients(grads_and_vars, global_step=global_step))
        update_op = tf.group(*update_ops, name="update_barrier")
        with tf.control_dependencies([update_op]):
            train_tensor = tf.identity(total_loss, name="train_op")
    for variable in tf.model_variables():
        summaries.add(tf.summary.histogram(f"ModelVars/{variable.op.name}", variable))
    for loss_tensor in tf.losses.get_losses():
        summaries.add(tf.summary.scalar(f"Losses/{loss_tensor.op.name}", loss_tensor))
    summaries.add(tf.summary.scalar("Losses/TotalLoss", tf.losses.get_total_loss()))
    summaries |= set(tf.get_collection(tf.GraphKeys.SUMMARIES, first_clone_scope))
    return train_tensor, tf.summary.merge(list(summaries), name="summary_op")


DETECTION = {
    "rows": [range(6), [6, 7]],
    "batch_size": [6, 2],
    "add_regularization_loss": True,
    "bias_grad_multiplier": 2.0,
    "freeze_variables": ["other/.*"],
}


@pytest.mark.parametrize("num_clones", [1, 2])
@pytest.mark.parametrize("regularized", [True, False])
def test_the_detection_trainer_reads_a_list_of_queues(linear, in_session, num_clones, regularized):
    config = {**DETECTION, "add_regularization_loss": regularized}
    train_tensor, summary_op = detection_trainer(linear, num_clones, config)
    assert train_tensor.op.name == "OptimizeClones/train_op"
    tf.get_default_graph().get_operation_by_name("OptimizeClones/total_loss")
    with in_session() as session:
        loss = session.run(train_tensor)
        l2 = linear.l2 if regularized else 0.0
        linear.check_first_step(loss, rate=0.5, of_biases=2.0, l2=l2)
        summary = tf.Summary.FromString(session.run(summary_op))
    written = [value.tag for value in summary.value]
    assert {"Losses/TotalLoss", "ModelVars/linear/weights"} < set(written)
    assert not [tag for tag in written if tag.startswith("clone_1/")]


def test_the_detection_trainer_freezes_variables(linear, in_session):
    config = {**DETECTION, "freeze_variables": [".*/weights"]}
    train_tensor, _ = detection_trainer(linear, 2, config)
    with in_session() as session:
        session.run(train_tensor)
        weights, biases = session.run(tf.trainable_variables())
    np.testing.assert_array_equal(weights, linear.start[0])
    assert np.abs(biases).min() > 0.1
