"""slim's train_image_classifier.py as it was written, with other imports: it learns and writes.

What was `slim.` of layers and data is tf_frame.layers and a queue by hand.
"""

import functools
import logging
import types

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame import layers
from tf_frame_legacy import learning, model_deploy

pytestmark = [
    pytest.mark.usefixtures("variable_mode", "control_flow_of_v1"),
    pytest.mark.timeout(120),
]
NUM_CLASSES, SIZE = 4, 8


def images_and_labels():
    """Noise `[64, 8, 8, 1]` with one bright corner, and its number from 0 to 3."""
    random = np.random.RandomState(0)
    labels = np.arange(64) % NUM_CLASSES
    images = 0.3 * random.randn(64, SIZE, SIZE, 1).astype(np.float32)
    for image, label in zip(images, labels, strict=True):
        row, column = divmod(label, 2)
        image[4 * row : 4 * row + 4, 4 * column : 4 * column + 4] += 1.0
    return images, labels.astype(np.int64)


def network_fn(images):
    end_points = {}
    normalizer = functools.partial(layers.batch_norm, is_training=True, decay=0.9)
    with tf.variable_scope("Tiny"):
        regularizer = layers.l2_regularizer(FLAGS.weight_decay)
        net = layers.conv2d(
            images,
            8,
            3,
            stride=2,
            normalizer_fn=normalizer,
            weights_regularizer=regularizer,
            scope="Conv_0",
        )
        end_points["Conv_0"] = net
        net = layers.conv2d(net, 8, 3, stride=2, normalizer_fn=normalizer, scope="Conv_1")
        end_points["Conv_1"] = net
        logits = layers.conv2d(
            net, NUM_CLASSES, 2, padding="VALID", activation_fn=None, scope="Logits"
        )
    return tf.squeeze(logits, [1, 2]), end_points


def prefetch_queue(tensors, capacity):
    queue = tf.FIFOQueue(capacity, [t.dtype for t in tensors], [t.shape for t in tensors])
    tf.train.add_queue_runner(tf.train.QueueRunner(queue, [queue.enqueue(tensors)]))
    return queue


FLAGS = types.SimpleNamespace(
    master="",
    num_clones=1,
    clone_on_cpu=True,
    worker_replicas=1,
    num_ps_tasks=0,
    task=0,
    log_every_n_steps=10,
    save_summaries_secs=600,
    save_interval_secs=600,
    weight_decay=0.00004,
    learning_rate=0.1,
    learning_rate_decay_factor=0.94,
    sync_replicas=False,
    replicas_to_aggregate=1,
    moving_average_decay=None,
    batch_size=16,
    max_number_of_steps=60,
    trainable_scopes=None,
    checkpoint_path=None,
)


def _configure_learning_rate(num_samples_per_epoch, global_step):
    decay_steps = int(num_samples_per_epoch / FLAGS.batch_size * 2)
    return tf.train.exponential_decay(
        FLAGS.learning_rate,
        global_step,
        decay_steps,
        FLAGS.learning_rate_decay_factor,
        staircase=True,
        name="exponential_decay_learning_rate",
    )


def _get_init_fn():
    if FLAGS.checkpoint_path is None or tf.train.latest_checkpoint(FLAGS.train_dir):
        return None
    saver = tf.train.Saver(tf.model_variables())
    return lambda session: saver.restore(session, FLAGS.checkpoint_path)


def main(_):
    tf.logging.set_verbosity(tf.logging.INFO)
    with tf.Graph().as_default():
        tf.set_random_seed(1)
        deploy_config = model_deploy.DeploymentConfig(
            num_clones=FLAGS.num_clones,
            clone_on_cpu=FLAGS.clone_on_cpu,
            replica_id=FLAGS.task,
            num_replicas=FLAGS.worker_replicas,
            num_ps_tasks=FLAGS.num_ps_tasks,
        )
        with tf.device(deploy_config.variables_device()):
            global_step = tf.train.create_global_step()

        with tf.device(deploy_config.inputs_device()):
            all_images, all_labels = images_and_labels()
            index = tf.train.range_input_producer(len(all_labels), seed=1).dequeue()
            image, label = tf.gather(all_images, index), tf.gather(all_labels, index)
            images, labels = tf.train.batch(
                [image, label],
                batch_size=FLAGS.batch_size,
                num_threads=1,
                capacity=5 * FLAGS.batch_size,
            )
            labels = tf.one_hot(labels, NUM_CLASSES)
            batch_queue = prefetch_queue([images, labels], capacity=2 * deploy_config.num_clones)

        def clone_fn(batch_queue):
            images, labels = batch_queue.dequeue()
            logits, end_points = network_fn(images)
            tf.losses.softmax_cross_entropy(logits=logits, onehot_labels=labels, weights=1.0)
            return end_points

        summaries = set(tf.get_collection(tf.GraphKeys.SUMMARIES))
        clones = model_deploy.create_clones(deploy_config, clone_fn, [batch_queue])
        first_clone_scope = deploy_config.clone_scope(0)
        update_ops = tf.get_collection(tf.GraphKeys.UPDATE_OPS, first_clone_scope)

        end_points = clones[0].outputs
        for end_point in end_points:
            x = end_points[end_point]
            summaries.add(tf.summary.histogram("activations/" + end_point, x))
            summaries.add(tf.summary.scalar("sparsity/" + end_point, tf.nn.zero_fraction(x)))
        for loss in tf.get_collection(tf.GraphKeys.LOSSES, first_clone_scope):
            summaries.add(tf.summary.scalar(f"losses/{loss.op.name}", loss))
        for variable in tf.model_variables():
            summaries.add(tf.summary.histogram(variable.op.name, variable))

        if FLAGS.moving_average_decay:
            moving_average_variables = tf.model_variables()
            variable_averages = tf.train.ExponentialMovingAverage(
                FLAGS.moving_average_decay, global_step
            )
        else:
            moving_average_variables, variable_averages = None, None

        with tf.device(deploy_config.optimizer_device()):
            learning_rate = _configure_learning_rate(len(all_labels), global_step)
            optimizer = tf.train.MomentumOptimizer(learning_rate, momentum=0.9)
            summaries.add(tf.summary.scalar("learning_rate", learning_rate))

        if FLAGS.sync_replicas:
            optimizer = tf.train.SyncReplicasOptimizer(
                opt=optimizer,
                replicas_to_aggregate=FLAGS.replicas_to_aggregate,
                total_num_replicas=FLAGS.worker_replicas,
                variable_averages=variable_averages,
                variables_to_average=moving_average_variables,
            )
        elif FLAGS.moving_average_decay:
            update_ops.append(variable_averages.apply(moving_average_variables))

        total_loss, clones_gradients = model_deploy.optimize_clones(
            clones, optimizer, var_list=tf.trainable_variables()
        )
        summaries.add(tf.summary.scalar("total_loss", total_loss))
        grad_updates = optimizer.apply_gradients(clones_gradients, global_step=global_step)
        update_ops.append(grad_updates)
        update_op = tf.group(*update_ops)
        with tf.control_dependencies([update_op]):
            train_tensor = tf.identity(total_loss, name="train_op")

        summaries |= set(tf.get_collection(tf.GraphKeys.SUMMARIES, first_clone_scope))
        summary_op = tf.summary.merge(list(summaries), name="summary_op")

        return learning.train(
            train_tensor,
            logdir=FLAGS.train_dir,
            master=FLAGS.master,
            is_chief=(FLAGS.task == 0),
            init_fn=_get_init_fn(),
            summary_op=summary_op,
            number_of_steps=FLAGS.max_number_of_steps,
            log_every_n_steps=FLAGS.log_every_n_steps,
            save_summaries_secs=FLAGS.save_summaries_secs,
            save_interval_secs=FLAGS.save_interval_secs,
            sync_optimizer=optimizer if FLAGS.sync_replicas else None,
        )


@pytest.fixture
def flags(tmp_path, monkeypatch):
    """Sets flags for a test; verbosity is put back after it."""
    verbosity = tf.logging.get_verbosity()
    FLAGS.train_dir = str(tmp_path)

    def set_flags(**values):
        for name, value in values.items():
            monkeypatch.setattr(FLAGS, name, value)

    yield set_flags
    tf.logging.set_verbosity(verbosity)


def tags_of(folder):
    return {
        value.tag
        for path in folder.glob("events.*")
        for event in tf.train.summary_iterator(str(path))
        for value in event.summary.value
    }


@pytest.mark.process
@pytest.mark.parametrize(
    "options",
    [
        pytest.param({}, marks=pytest.mark.slow),
        pytest.param(
            {"num_clones": 2, "batch_size": 8, "moving_average_decay": 0.9}, marks=pytest.mark.slow
        ),
        {"sync_replicas": True, "moving_average_decay": 0.9},
    ],
    ids=["one clone", "two clones and averages", "synchronous"],
)
def test_slims_script_learns_and_writes(flags, options, tmp_path, caplog):
    flags(**options)
    loss = main([])
    assert 0.0 < loss < 0.3
    told = [m for m in caplog.messages if m.startswith("global step ")]
    assert [int(m.split()[2].rstrip(":")) for m in told] == [10, 20, 30, 40, 50, 60]
    first, last = (float(m.split("loss = ")[1].split()[0]) for m in (told[0], told[-1]))
    assert last < first / 2
    names = {path.name for path in tmp_path.iterdir() if "tfevents" not in path.name}
    assert names == {
        "checkpoint",
        "graph.pbtxt",
        *[f"model.ckpt-{s}.{e}" for s in (0, 60) for e in ("index", "meta")],
        *[f"model.ckpt-{s}.data-00000-of-00001" for s in (0, 60)],
    }
    written = tags_of(tmp_path)
    # Names that operations had before get a number.
    expected = {"learning_rate", "activations/Conv_0", "sparsity/Conv_1", "total_loss_1"}
    assert {*expected, "Tiny/Logits/weights_1"} < written
    if options.get("moving_average_decay"):
        average = tf.train.load_variable(
            str(tmp_path), "Tiny/Logits/weights/ExponentialMovingAverage"
        )
        now = tf.train.load_variable(str(tmp_path), "Tiny/Logits/weights")
        assert 0 < np.abs(average - now).max() < 0.5


@pytest.mark.slow
@pytest.mark.process
def test_slims_script_is_fine_tuned_and_goes_on(flags, tmp_path, caplog):
    flags(max_number_of_steps=60)
    main([])
    start = str(tmp_path / "model.ckpt-60")
    flags(train_dir=str(tmp_path / "second"), checkpoint_path=start, max_number_of_steps=2)
    assert main([]) < 0.3
    flags(max_number_of_steps=4, checkpoint_path="nowhere")
    with caplog.at_level(logging.INFO, "tensorflow"):
        main([])
    assert tf.train.latest_checkpoint(FLAGS.train_dir).endswith("model.ckpt-4")
