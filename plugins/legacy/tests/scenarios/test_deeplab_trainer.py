"""DeepLab's trainer as it was written, with other imports; it reads a tf.data iterator."""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame.gradient_transforms.multiply import multiply_gradients
from tf_frame_legacy import model_deploy, train_utils

pytestmark = pytest.mark.usefixtures("graph", "variable_mode", "control_flow_of_v1")


def deeplab_trainer(linear, num_clones, train_logdir, checkpoint=None):
    """research/deeplab/train.py; --train_batch_size counts for all clones together."""
    config = model_deploy.DeploymentConfig(num_clones, clone_on_cpu=True)
    with tf.device(config.inputs_device()):
        dataset = tf.data.Dataset.from_tensor_slices((linear.features, linear.targets)).repeat()
        dataset = dataset.batch(8 // num_clones, drop_remainder=True)
        iterator = tf.data.make_one_shot_iterator(dataset)

    def model_fn(iterator):
        features, targets = iterator.get_next()
        linear.add_loss(features, targets)

    with tf.device(config.variables_device()):
        global_step = tf.train.get_or_create_global_step()
        clones = model_deploy.create_clones(config, model_fn, args=[iterator])
        update_ops = tf.get_collection(tf.GraphKeys.UPDATE_OPS, config.clone_scope(0))
    with tf.device(config.optimizer_device()):
        learning_rate = train_utils.get_model_learning_rate(
            "poly", 0.5, 2000, 0.1, 30000, 0.9, 0, 1e-4
        )
        optimizer = tf.train.MomentumOptimizer(learning_rate, 0.9)
    with tf.device(config.variables_device()):
        total_loss, grads_and_vars = model_deploy.optimize_clones(clones, optimizer)
        total_loss = tf.check_numerics(total_loss, "Loss is inf or nan.")
        grad_mult = train_utils.get_model_gradient_multipliers(["linear"], 0.5)
        grads_and_vars = multiply_gradients(grads_and_vars, grad_mult)
        update_ops.append(optimizer.apply_gradients(grads_and_vars, global_step=global_step))
        with tf.control_dependencies([tf.group(*update_ops)]):
            train_tensor = tf.identity(total_loss, name="train_op")
    return train_tensor, train_utils.get_model_init_fn(
        train_logdir, checkpoint, True, ["linear"], ignore_missing_vars=True
    )


@pytest.mark.parametrize("num_clones", [1, 2])
def test_deeplabs_trainer_reads_an_iterator(linear, in_session, num_clones, tmp_path):
    train_tensor, init_fn = deeplab_trainer(linear, num_clones, str(tmp_path))
    assert init_fn is None
    with in_session() as session:
        loss = session.run(train_tensor)
        linear.check_first_step(loss, rate=0.25, of_biases=2.0)


def test_deeplabs_trainer_begins_with_a_checkpoint(linear, tmp_path):
    with tf.Graph().as_default(), tf.Session() as session:
        tf.get_variable("linear/weights", initializer=tf.constant([[1.0], [2.0], [3.0]]))
        session.run(tf.global_variables_initializer())
        checkpoint = tf.train.Saver().save(session, str(tmp_path / "pretrained" / "model.ckpt"))
    train_tensor, init_fn = deeplab_trainer(linear, 2, str(tmp_path / "train"), checkpoint)
    scaffold = tf.train.Scaffold(init_fn=init_fn)
    weights = np.array([[1.0], [2.0], [3.0]], np.float32)
    with tf.train.MonitoredTrainingSession(scaffold=scaffold) as session:
        loss = session.run(train_tensor)
    assert loss == pytest.approx(linear.loss(weights, linear.start[1]), rel=1e-5)
