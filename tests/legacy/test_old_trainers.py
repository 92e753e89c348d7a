"""Trainers as they were written: only their imports have changed.

Each reads its input in another way: slim's from one queue, the Object Detection API's from a list
of queues, DeepLab's from a tf.data iterator. All examples are read in every step, so the numbers
can be computed whichever clone gets which.
"""

import contextlib

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame import layers
from tf_frame.gradient_transforms.multiply import multiply_gradients
from tf_frame.legacy import model_deploy, train_utils, variables_helper

pytestmark = [pytest.mark.usefixtures("graph", "variable_mode")]


@pytest.fixture(autouse=True)
def control_flow_of_v1():
    """As old programs have it: they call tf.disable_v2_behavior()."""
    tf.disable_control_flow_v2()
    yield
    tf.enable_control_flow_v2()


clones_on_cpu = pytest.mark.parametrize("num_clones", [1, 2])
FEATURES = np.random.RandomState(0).randn(8, 3).astype(np.float32)
TARGETS = (FEATURES @ [[1.0], [-2.0], [0.5]] + 3.0).astype(np.float32)
L2 = 0.1


def loss_and_gradients(weights, biases, l2=L2):
    """Of half the mean squared error and the penalty, on all examples; by hand."""
    errors = FEATURES @ weights + biases - TARGETS
    loss = 0.5 * np.mean(errors**2) + l2 * 0.5 * np.sum(weights**2)
    return loss, FEATURES.T @ errors / len(errors) + l2 * weights, errors.mean(axis=0)


START = np.full([3, 1], 0.25, np.float32), np.zeros([1], np.float32)


def network(features):
    """Scope `linear`, penalty on the weights, and an update op that counts the steps."""
    with tf.variable_scope("linear"):
        weights = layers.model_variable(
            "weights",
            [3, 1],
            initializer=tf.constant_initializer(0.25),
            regularizer=layers.l2_regularizer(L2),
        )
        biases = layers.model_variable("biases", [1], initializer=tf.zeros_initializer())
        steps = layers.model_variable(
            "steps", [], initializer=tf.zeros_initializer(), trainable=False
        )
    tf.add_to_collection(tf.GraphKeys.UPDATE_OPS, tf.assign_add(steps, 1.0))
    return tf.matmul(features, weights) + biases


def add_loss(outputs, targets):
    tf.losses.add_loss(0.5 * tf.reduce_mean(tf.square(outputs - targets)), "losses")


def prefetch_queue(batch, capacity):
    queue = tf.FIFOQueue(capacity, [t.dtype for t in batch], [t.shape for t in batch])
    tf.train.add_queue_runner(tf.train.QueueRunner(queue, [queue.enqueue(batch)]))
    return queue


def batched(rows, batch_size):
    """Batches of these rows of the data, in their order and for ever."""
    index = tf.train.range_input_producer(len(rows), shuffle=False).dequeue()
    row = tf.gather(tf.constant(list(rows)), index)
    example = [tf.gather(FEATURES, row), tf.gather(TARGETS, row)]
    return tf.train.batch(example, batch_size, num_threads=1, capacity=16)


@contextlib.contextmanager
def session_with_queues():
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coordinator)
        yield session
        coordinator.request_stop()
        coordinator.join(threads)


def tags(serialized):
    return sorted(value.tag for value in tf.Summary.FromString(serialized).value)


def variable_called(name):
    (variable,) = [v for v in tf.global_variables() if v.op.name == name]
    return variable


def slim_trainer(num_clones):
    """research/slim/train_image_classifier.py; --batch_size counts for each clone."""
    deploy_config = model_deploy.DeploymentConfig(num_clones=num_clones, clone_on_cpu=True)
    with tf.device(deploy_config.variables_device()):
        global_step = tf.train.create_global_step()
    with tf.device(deploy_config.inputs_device()):
        batch_queue = prefetch_queue(batched(range(8), 8 // num_clones), 2 * num_clones)

    def clone_fn(batch_queue):
        with tf.device(deploy_config.inputs_device()):
            features, targets = batch_queue.dequeue()
        add_loss(network(features), targets)

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
    return train_tensor, tf.summary.merge(list(summaries), name="summary_op")


@clones_on_cpu
def test_slims_trainer_reads_one_queue(num_clones):
    train_tensor, summary_op = slim_trainer(num_clones)
    assert summary_op.op.name == "summary_op/summary_op"
    with session_with_queues() as session:
        loss = session.run(train_tensor)
        weights, biases = session.run(tf.trainable_variables())
        assert session.run(variable_called("linear/steps")) == 1.0
        assert session.run(tf.train.get_global_step()) == 1
        session.run(variable_called("linear/weights/ExponentialMovingAverage"))
        written = tags(session.run(summary_op))
    check_step(loss, weights, biases, rate=0.5)
    of_clones = {
        1: ["Losses/clone_loss", "Losses/regularization_loss"],
        2: ["clone_0/Losses/clone_0//clone_loss", "clone_0/Losses/regularization_loss"],
    }
    of_input = ["batch/fraction_of_16_full", "input_producer/fraction_of_32_full"]
    of_all = [*of_input, "learning_rate", "total_loss_1"]
    assert written == sorted([*of_clones[num_clones], *of_all])


def check_step(loss, weights, biases, *, rate, of_biases=1.0, l2=L2):
    expected, for_weights, for_biases = loss_and_gradients(*START, l2)
    assert loss == pytest.approx(expected, rel=1e-5)
    np.testing.assert_allclose(weights, START[0] - rate * for_weights, atol=1e-6)
    np.testing.assert_allclose(biases, START[1] - rate * of_biases * for_biases, atol=1e-6)


def detection_trainer(num_clones, config):
    """research/object_detection/legacy/trainer.py, with a queue for each of several inputs."""
    deploy_config = model_deploy.DeploymentConfig(num_clones, clone_on_cpu=True)
    with tf.device(deploy_config.variables_device()):
        global_step = tf.train.create_global_step()
    with tf.device(deploy_config.inputs_device()), tf.name_scope("Input"):
        input_queue_list = [
            prefetch_queue(batched(rows, batch_size // num_clones), 4)
            for rows, batch_size in zip(config["rows"], config["batch_size"], strict=True)
        ]

    def model_fn(input_queue_list):
        batches = [queue.dequeue() for queue in input_queue_list]
        features, targets = (tf.concat(parts, axis=0) for parts in zip(*batches, strict=True))
        assert features.shape[0] == sum(config["batch_size"]) // num_clones
        add_loss(network(features), targets)

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


@clones_on_cpu
@pytest.mark.parametrize("regularized", [True, False])
def test_the_detection_trainer_reads_a_list_of_queues(num_clones, regularized):
    config = {**DETECTION, "add_regularization_loss": regularized}
    train_tensor, summary_op = detection_trainer(num_clones, config)
    assert train_tensor.op.name == "OptimizeClones/train_op"
    tf.get_default_graph().get_operation_by_name("OptimizeClones/total_loss")
    with session_with_queues() as session:
        loss = session.run(train_tensor)
        weights, biases = session.run(tf.trainable_variables())
        assert session.run(variable_called("linear/steps")) == 1.0
        written = tags(session.run(summary_op))
    check_step(loss, weights, biases, rate=0.5, of_biases=2.0, l2=L2 if regularized else 0.0)
    assert {"Losses/TotalLoss", "ModelVars/linear/weights"} < set(written)
    assert not [tag for tag in written if tag.startswith("clone_1/")]


def test_the_detection_trainer_freezes_variables():
    config = {**DETECTION, "freeze_variables": [".*/weights"]}
    train_tensor, _ = detection_trainer(2, config)
    with session_with_queues() as session:
        session.run(train_tensor)
        weights, biases = session.run(tf.trainable_variables())
    np.testing.assert_array_equal(weights, START[0])
    assert np.abs(biases).min() > 0.1


def deeplab_trainer(num_clones, train_logdir, checkpoint=None):
    """research/deeplab/train.py; --train_batch_size counts for all clones together."""
    config = model_deploy.DeploymentConfig(num_clones, clone_on_cpu=True)
    with tf.device(config.inputs_device()):
        dataset = tf.data.Dataset.from_tensor_slices((FEATURES, TARGETS)).repeat()
        dataset = dataset.batch(8 // num_clones, drop_remainder=True)
        iterator = tf.data.make_one_shot_iterator(dataset)

    def model_fn(iterator):
        features, targets = iterator.get_next()
        add_loss(network(features), targets)

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


@clones_on_cpu
def test_deeplabs_trainer_reads_an_iterator(num_clones, tmp_path):
    train_tensor, init_fn = deeplab_trainer(num_clones, str(tmp_path))
    assert init_fn is None
    with session_with_queues() as session:
        loss = session.run(train_tensor)
        weights, biases = session.run(tf.trainable_variables())
        assert session.run(variable_called("linear/steps")) == 1.0
    check_step(loss, weights, biases, rate=0.25, of_biases=2.0)


def test_deeplabs_trainer_begins_with_a_checkpoint(tmp_path):
    with tf.Graph().as_default(), tf.Session() as session:
        tf.get_variable("linear/weights", initializer=tf.constant([[1.0], [2.0], [3.0]]))
        session.run(tf.global_variables_initializer())
        checkpoint = tf.train.Saver().save(session, str(tmp_path / "pretrained" / "model.ckpt"))
    train_tensor, init_fn = deeplab_trainer(2, str(tmp_path / "train"), checkpoint)
    scaffold = tf.train.Scaffold(init_fn=init_fn)
    weights = np.array([[1.0], [2.0], [3.0]], np.float32)
    with tf.train.MonitoredTrainingSession(scaffold=scaffold) as session:
        loss = session.run(train_tensor)
    assert loss == pytest.approx(loss_and_gradients(weights, START[1])[0], rel=1e-5)
