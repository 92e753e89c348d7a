"""A trainer as inception_distributed_train.py is written; only its imports are tf-frame's."""

import gzip
import os.path
import time
from datetime import datetime

import numpy as np
import tensorflow.compat.v1 as tf

from tf_frame_legacy import slim
from tf_frame_legacy.server import Server
from tf_frame_legacy.sync_replicas import SyncReplicasOptimizer

FLAGS = tf.app.flags.FLAGS

tf.app.flags.DEFINE_string("job_name", "", 'One of "ps", "worker"')
tf.app.flags.DEFINE_string("ps_hosts", "", "HOST:PORT of the parameter servers, with commas")
tf.app.flags.DEFINE_string("worker_hosts", "", "HOST:PORT of the workers, with commas")
tf.app.flags.DEFINE_string("protocol", "grpc", "Communication protocol of the servers.")
tf.app.flags.DEFINE_integer("task_id", 0, "Task ID of the worker/replica running the training.")

tf.app.flags.DEFINE_string("train_dir", "/tmp/imagenet_train", "Event logs and checkpoints.")
tf.app.flags.DEFINE_string("data_dir", "/tmp/mydata", "Path to the processed data.")
tf.app.flags.DEFINE_integer("batch_size", 32, "Number of images to process in a batch.")
tf.app.flags.DEFINE_integer("max_steps", 1000000, "Number of batches to run.")
tf.app.flags.DEFINE_boolean("log_device_placement", False, "Whether to log device placement.")
tf.app.flags.DEFINE_integer("num_replicas_to_aggregate", -1, "Gradients before an update.")
tf.app.flags.DEFINE_integer("diverge_at_step", -1, "The step of a rate that is not a number.")
tf.app.flags.DEFINE_integer("save_interval_secs", 10 * 60, "Save interval seconds.")
tf.app.flags.DEFINE_float("initial_learning_rate", 0.045, "Initial learning rate.")
tf.app.flags.DEFINE_float("num_epochs_per_decay", 2.0, "Epochs after which it decays.")
tf.app.flags.DEFINE_float("learning_rate_decay_factor", 0.94, "Learning rate decay factor.")

RMSPROP_DECAY = 0.9
RMSPROP_MOMENTUM = 0.9
RMSPROP_EPSILON = 1.0
MOVING_AVERAGE_DECAY = 0.9999


class Dataset:
    """Fashion-MNIST; label 0 is the background, as in the records of ImageNet."""

    def num_classes(self):
        return 10

    def num_examples_per_epoch(self):
        return 2000

    def batch_inputs(self):
        def read(name, header):
            with gzip.open(os.path.join(FLAGS.data_dir, name)) as file:
                return np.frombuffer(file.read(), np.uint8, offset=header)

        images = read("train-images-idx3-ubyte.gz", 16).reshape(-1, 28, 28, 1)
        labels = read("train-labels-idx1-ubyte.gz", 8).astype(np.int32) + 1
        images = images.astype(np.float32) / 127.5 - 1.0
        return tf.train.shuffle_batch(
            [images, labels], FLAGS.batch_size, 4000, min_after_dequeue=1000, enqueue_many=True
        )


def inference(images, num_classes):
    parameters = {"decay": 0.9997, "epsilon": 0.001, "updates_collections": "_update_ops_"}
    with slim.arg_scope(
        [slim.conv2d, slim.fully_connected],
        weights_regularizer=slim.l2_regularizer(0.00004),
        normalizer_fn=slim.batch_norm,
        normalizer_params=parameters,
    ):
        net = slim.conv2d(images, 8, [5, 5], stride=2, scope="conv1")
        net = slim.conv2d(net, 16, [5, 5], stride=2, scope="conv2")
        net = slim.fully_connected(slim.flatten(net), 32, scope="fc")
        return slim.fully_connected(
            net, num_classes, activation_fn=None, normalizer_fn=None, scope="logits"
        )


def train(target, dataset, cluster_spec):
    """Train Inception on a dataset for a number of steps."""
    num_workers = len(cluster_spec.as_dict()["worker"])
    num_parameter_servers = len(cluster_spec.as_dict()["ps"])
    if FLAGS.num_replicas_to_aggregate == -1:
        num_replicas_to_aggregate = num_workers
    else:
        num_replicas_to_aggregate = FLAGS.num_replicas_to_aggregate
    assert num_workers > 0 and num_parameter_servers > 0, (
        " num_workers and num_parameter_servers must be > 0."
    )
    is_chief = FLAGS.task_id == 0

    with (
        tf.device(f"/job:worker/task:{FLAGS.task_id}"),
        slim.scopes.arg_scope(
            [slim.variables.variable, slim.variables.model_variable, slim.variables.global_step],
            device=slim.variables.VariableDeviceChooser(num_parameter_servers),
        ),
    ):
        global_step = slim.variables.global_step()

        num_batches_per_epoch = dataset.num_examples_per_epoch() / FLAGS.batch_size
        decay_steps = int(
            num_batches_per_epoch * FLAGS.num_epochs_per_decay / num_replicas_to_aggregate
        )
        lr = tf.train.exponential_decay(
            FLAGS.initial_learning_rate,
            global_step,
            decay_steps,
            FLAGS.learning_rate_decay_factor,
            staircase=True,
        )
        lr = tf.where(tf.equal(global_step, FLAGS.diverge_at_step), float("nan"), lr)
        tf.summary.scalar("learning_rate", lr)
        opt = tf.train.RMSPropOptimizer(
            lr, RMSPROP_DECAY, momentum=RMSPROP_MOMENTUM, epsilon=RMSPROP_EPSILON
        )

        images, labels = dataset.batch_inputs()
        num_classes = dataset.num_classes() + 1
        logits = inference(images, num_classes)
        slim.losses.sparse_softmax_cross_entropy(logits, labels)

        losses = tf.get_collection(tf.GraphKeys.LOSSES)
        losses += tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)
        total_loss = tf.add_n(losses, name="total_loss")
        if is_chief:
            loss_averages = tf.train.ExponentialMovingAverage(0.9, name="avg")
            loss_averages_op = loss_averages.apply([*losses, total_loss])
            for loss in [*losses, total_loss]:
                tf.summary.scalar(loss.op.name + " (raw)", loss)
                tf.summary.scalar(loss.op.name, loss_averages.average(loss))
            with tf.control_dependencies([loss_averages_op]):
                total_loss = tf.identity(total_loss)

        exp_moving_averager = tf.train.ExponentialMovingAverage(MOVING_AVERAGE_DECAY, global_step)
        variables_to_average = tf.trainable_variables() + tf.moving_average_variables()
        for var in variables_to_average:
            tf.summary.histogram(var.op.name, var)

        opt = SyncReplicasOptimizer(
            opt,
            replicas_to_aggregate=num_replicas_to_aggregate,
            replica_id=FLAGS.task_id,
            total_num_replicas=num_workers,
            variable_averages=exp_moving_averager,
            variables_to_average=variables_to_average,
        )

        batchnorm_updates = tf.get_collection("_update_ops_")
        assert batchnorm_updates, "Batchnorm updates are missing"
        with tf.control_dependencies([tf.group(*batchnorm_updates)]):
            total_loss = tf.identity(total_loss)

        grads = opt.compute_gradients(total_loss)
        for grad, var in grads:
            if grad is not None:
                tf.summary.histogram(var.op.name + "/gradients", grad)
        apply_gradients_op = opt.apply_gradients(grads, global_step=global_step)
        with tf.control_dependencies([apply_gradients_op]):
            train_op = tf.identity(total_loss, name="train_op")

        chief_queue_runners = [opt.get_chief_queue_runner()]
        init_tokens_op = opt.get_init_tokens_op()
        clean_up_op = opt.get_clean_up_op()

        saver = tf.train.Saver()
        summary_op = tf.summary.merge_all()
        init_op = tf.global_variables_initializer()

        sv = tf.train.Supervisor(
            is_chief=is_chief,
            logdir=FLAGS.train_dir,
            init_op=init_op,
            summary_op=None,
            global_step=global_step,
            recovery_wait_secs=1,
            saver=saver,
            save_model_secs=FLAGS.save_interval_secs,
        )
        tf.logging.info(f"{datetime.now()} Supervisor")
        sess_config = tf.ConfigProto(
            allow_soft_placement=True, log_device_placement=FLAGS.log_device_placement
        )
        sess = sv.prepare_or_wait_for_session(target, config=sess_config)

        queue_runners = tf.get_collection(tf.GraphKeys.QUEUE_RUNNERS)
        sv.start_queue_runners(sess, queue_runners)
        tf.logging.info("Started %d queues for processing input data.", len(queue_runners))
        if is_chief:
            sv.start_queue_runners(sess, chief_queue_runners)
            sess.run(init_tokens_op)

        while not sv.should_stop():
            try:
                start_time = time.time()
                loss_value, step = sess.run([train_op, global_step])
                assert not np.isnan(loss_value), "Model diverged with loss = NaN"
                if step > FLAGS.max_steps:
                    break
                duration = time.time() - start_time
                if step < 10 or step % 10 == 0:
                    examples_per_sec = FLAGS.batch_size / float(duration)
                    tf.logging.info(
                        f"Worker {FLAGS.task_id}: {datetime.now()}: step {step}, "
                        f"loss = {loss_value:.2f}"
                        f"({examples_per_sec:.1f} examples/sec; {duration:.3f}  sec/batch)"
                    )
                if is_chief and step > 0 and step % 50 == 0:
                    sv.summary_computed(sess, sess.run(summary_op))
            except BaseException:  # Ctrl-C, too; raised again.
                if is_chief:
                    tf.logging.info("About to execute sync_clean_up_op!")
                    sess.run(clean_up_op)
                raise

        sv.stop()
        if is_chief:
            saver.save(sess, os.path.join(FLAGS.train_dir, "model.ckpt"), global_step=global_step)


def main(unused_args):
    assert FLAGS.job_name in ["ps", "worker"], "job_name must be ps or worker"
    ps_hosts = FLAGS.ps_hosts.split(",")
    worker_hosts = FLAGS.worker_hosts.split(",")
    tf.logging.info(f"PS hosts are: {ps_hosts}")
    tf.logging.info(f"Worker hosts are: {worker_hosts}")
    cluster_spec = tf.train.ClusterSpec({"ps": ps_hosts, "worker": worker_hosts})
    server = Server(
        {"ps": ps_hosts, "worker": worker_hosts},
        job_name=FLAGS.job_name,
        task_index=FLAGS.task_id,
        protocol=FLAGS.protocol,
    )
    if FLAGS.job_name == "ps":
        server.join()
    else:
        if FLAGS.task_id == 0:
            tf.gfile.MakeDirs(FLAGS.train_dir)
        train(server.target, Dataset(), cluster_spec)


if __name__ == "__main__":
    tf.disable_v2_behavior()
    tf.logging.set_verbosity(tf.logging.INFO)
    tf.app.run()
