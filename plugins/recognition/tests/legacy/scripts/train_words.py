"""Trains on words by a trainer with several input queues, as written for TensorFlow 1.

The tests replace its imports. Words have two symbols of three; a symbol is a bright row in its half
of the image.
"""

import argparse
import functools

import numpy as np
import tensorflow as tf
from deployment import model_deploy
from object_detection.utils import profile_session_run_hooks, variables_helper
from tensorflow.contrib import slim, training as contrib_training

parser = argparse.ArgumentParser()
parser.add_argument("--train_dir", required=True)
parser.add_argument("--num_clones", type=int, default=1)
parser.add_argument("--num_steps", type=int, default=202)
parser.add_argument("--fine_tune_checkpoint", default="")
parser.add_argument("--freeze_variables", nargs="*", default=[])

NUM_SYMBOLS = 3
LENGTH = 2
BATCH_SIZES = [6, 3]
IMAGE_SIZE = [6, 8]


def create_tensor_dict(noise):
    """One word after the other."""
    words = np.array([(i, j) for i in range(NUM_SYMBOLS) for j in range(NUM_SYMBOLS)], np.int32)
    images = np.zeros([len(words), *IMAGE_SIZE, 1], np.float32)
    for image, word in zip(images, words, strict=True):
        for position, symbol in enumerate(word):
            left = position * IMAGE_SIZE[1] // LENGTH
            image[2 * symbol, left + 1 : left + 3] = 255.0
    index = tf.train.range_input_producer(len(words), shuffle=True, seed=1).dequeue()
    image = tf.gather(images, index)
    image += tf.random_normal(image.shape, stddev=noise, seed=2)
    return {"image": image, "groundtruth_ids": tf.gather(words, index)}


def create_input_queue(batch_size_per_clone, create_tensor_dict_fn):
    tensor_dict = create_tensor_dict_fn()
    batch = tf.train.batch(
        [tensor_dict["image"], tensor_dict["groundtruth_ids"]],
        batch_size=batch_size_per_clone,
        num_threads=1,
        capacity=32,
    )
    return slim.prefetch_queue.prefetch_queue(batch, capacity=4)


def extract_features(images):
    with tf.variable_scope("FeatureExtractor"), tf.variable_scope("Convnet"):
        net = slim.conv2d(
            images / 255.0,
            8,
            [IMAGE_SIZE[0], 3],
            normalizer_fn=slim.batch_norm,
            weights_regularizer=slim.l2_regularizer(1e-4),
            scope="conv1",
        )
        net = tf.reduce_max(net, axis=1)
        tf.summary.histogram("features", net)
        return net


def create_losses(input_queue_list):
    batches = [queue.dequeue() for queue in input_queue_list]
    images = tf.concat([images for images, _ in batches], 0, name="images")
    ids = tf.concat([ids for _, ids in batches], 0)
    features = extract_features(images)
    with tf.variable_scope("Predictor"):
        logits = slim.fully_connected(features, NUM_SYMBOLS + 1, activation_fn=None, scope="logits")
    where = tf.where(tf.ones_like(ids, tf.bool))
    labels = tf.SparseTensor(where, tf.gather_nd(ids, where), tf.shape(ids, out_type=tf.int64))
    lengths = tf.fill([tf.shape(ids)[0]], IMAGE_SIZE[1])
    loss = tf.nn.ctc_loss(labels, logits, lengths, time_major=False)
    tf.losses.add_loss(tf.reduce_mean(loss, name="ctc_loss"))


def get_load_pretrain(checkpoint):
    if not checkpoint:
        return None
    variables = [
        variable
        for variable in tf.trainable_variables()
        if variable.op.name.split("/")[:2] == ["FeatureExtractor", "Convnet"]
    ]
    saver = tf.train.Saver(variables)

    def load_pretrain(scaffold, sess):
        saver.restore(sess, checkpoint)

    return load_pretrain


def train(create_tensor_dict_fn_list, args):
    with tf.Graph().as_default():
        tf.set_random_seed(1)
        deploy_config = model_deploy.DeploymentConfig(
            num_clones=args.num_clones,
            clone_on_cpu=True,
            replica_id=0,
            num_replicas=1,
            num_ps_tasks=0,
            worker_job_name="lonely_worker",
        )
        with tf.device(deploy_config.variables_device()):
            global_step = tf.train.create_global_step()
        with tf.device(deploy_config.inputs_device()), tf.name_scope("Input"):
            input_queue_list = [
                create_input_queue(BATCH_SIZES[i] // args.num_clones, create_tensor_dict_fn)
                for i, create_tensor_dict_fn in enumerate(create_tensor_dict_fn_list)
            ]

        summaries = set(tf.get_collection(tf.GraphKeys.SUMMARIES))
        global_summaries = set()
        clones = model_deploy.create_clones(deploy_config, create_losses, [input_queue_list])
        first_clone_scope = clones[0].scope
        update_ops = tf.get_collection(tf.GraphKeys.UPDATE_OPS, first_clone_scope)

        with tf.device(deploy_config.optimizer_device()), tf.name_scope("Optimizer"):
            learning_rate = tf.train.exponential_decay(0.03, global_step, 1000, 0.5)
            global_summaries.add(tf.summary.scalar("Learning Rate", learning_rate))
            training_optimizer = tf.train.AdamOptimizer(learning_rate)

        load_pretrain = get_load_pretrain(args.fine_tune_checkpoint)
        with tf.device(deploy_config.optimizer_device()), tf.variable_scope("OptimizeClones"):
            total_loss, grads_and_vars = model_deploy.optimize_clones(
                clones, training_optimizer, regularization_losses=None
            )
            total_loss = tf.check_numerics(total_loss, "LossTensor is inf or nan.")
            biases_regex_list = [r".*bias(?:es)?", r".*beta"]
            grads_and_vars = variables_helper.multiply_gradients_matching_regex(
                grads_and_vars, biases_regex_list, multiplier=2.0
            )
            if args.freeze_variables:
                grads_and_vars = variables_helper.freeze_gradients_matching_regex(
                    grads_and_vars, args.freeze_variables
                )
            with tf.name_scope("clip_grads"):
                grads_and_vars = contrib_training.clip_gradient_norms(grads_and_vars, 5.0)
            update_ops.append(
                training_optimizer.apply_gradients(grads_and_vars, global_step=global_step)
            )
            with tf.control_dependencies([tf.group(*update_ops)]):
                train_tensor = tf.identity(total_loss, name="train_op")

        for grad, var in grads_and_vars:
            global_summaries.add(tf.summary.histogram("grad/" + var.op.name, grad))
            global_summaries.add(tf.summary.histogram(var.op.name, var))
        for loss_tensor in tf.losses.get_losses():
            global_summaries.add(tf.summary.scalar(loss_tensor.op.name, loss_tensor))
        global_summaries.add(tf.summary.scalar("TotalLoss", tf.losses.get_total_loss()))
        summaries |= set(tf.get_collection(tf.GraphKeys.SUMMARIES, first_clone_scope))
        summaries |= global_summaries
        summary_op = tf.summary.merge(list(summaries), name="summary_op")

        scaffold = tf.train.Scaffold(
            init_fn=load_pretrain,
            summary_op=summary_op,
            saver=tf.train.Saver(keep_checkpoint_every_n_hours=1000),
        )
        stop_hook = tf.train.StopAtStepHook(num_steps=args.num_steps)
        profile_hook = profile_session_run_hooks.ProfileAtStepHook(
            at_step=200, checkpoint_dir=args.train_dir
        )
        contrib_training.train(
            train_tensor,
            args.train_dir,
            master="",
            is_chief=True,
            scaffold=scaffold,
            hooks=[stop_hook, profile_hook],
            chief_only_hooks=None,
            save_checkpoint_secs=600,
            save_summaries_steps=100,
            config=tf.ConfigProto(allow_soft_placement=True, log_device_placement=False),
        )


def main():
    inputs = [functools.partial(create_tensor_dict, noise) for noise in (10.0, 60.0)]
    train(inputs, parser.parse_args())


if __name__ == "__main__":
    main()
