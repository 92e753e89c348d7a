"""Detects squares by a small SSD on slim, with clones by model_deploy."""

from __future__ import print_function

import sys

import numpy as np
import tensorflow as tf
from deployment import model_deploy

slim = tf.contrib.slim

tf.app.flags.DEFINE_integer("num_clones", 2, "Number of model clones to deploy.")
tf.app.flags.DEFINE_boolean("clone_on_cpu", True, "Use CPUs to deploy clones.")
tf.app.flags.DEFINE_float("weight_decay", 0.0005, "The weight decay on the model weights.")
tf.app.flags.DEFINE_integer("max_number_of_steps", 30, "The maximum number of training steps.")
FLAGS = tf.app.flags.FLAGS
SIZE, CELLS = 32, 4


def ssd_arg_scope(weight_decay=0.0005):
    with slim.arg_scope(
        [slim.conv2d, slim.fully_connected],
        activation_fn=tf.nn.relu,
        weights_regularizer=slim.l2_regularizer(weight_decay),
        weights_initializer=tf.contrib.layers.xavier_initializer(),
        biases_initializer=tf.zeros_initializer(),
    ):
        with slim.arg_scope([slim.conv2d, slim.max_pool2d], padding="SAME") as scope:
            return scope


def ssd_net(inputs, reuse=None, scope="ssd_net"):
    end_points = {}
    with tf.variable_scope(scope, "ssd_net", [inputs], reuse=reuse):
        net = slim.repeat(inputs, 2, slim.conv2d, 16, [3, 3], scope="conv1")
        end_points["block1"] = net
        for block in (2, 3, 4):
            net = slim.max_pool2d(net, [2, 2], scope="pool%d" % (block - 1))
            net = slim.conv2d(net, 16, [3, 3], scope="conv%d" % block)
            end_points["block%d" % block] = net
        with tf.variable_scope("block4_box"):
            localisations = slim.conv2d(net, 4, [3, 3], activation_fn=None, scope="conv_loc")
            logits = slim.conv2d(net, 2, [3, 3], activation_fn=None, scope="conv_cls")
    return logits, localisations, end_points


def ssd_losses(logits, localisations, classes, boxes, scope=None):
    with tf.name_scope(scope, "ssd_losses"):
        positive = tf.cast(classes > 0, tf.float32)
        with tf.name_scope("cross_entropy"):
            loss = tf.nn.sparse_softmax_cross_entropy_with_logits(logits=logits, labels=classes)
            tf.losses.add_loss(tf.div(tf.reduce_sum(loss), 16.0 * CELLS, name="value"))
        with tf.name_scope("localization"):
            loss = tf.reduce_sum(tf.abs(localisations - boxes), -1) * positive
            loss = tf.div(tf.reduce_sum(loss), tf.reduce_sum(positive) + 1.0, name="value")
            tf.losses.add_loss(loss)


def example(_):
    """An image with a square; its cell, and where the square is in the image."""
    random = np.random
    top, left = random.randint(0, SIZE - 8, 2)
    image = random.uniform(0, 0.1, [SIZE, SIZE, 3]).astype(np.float32)
    image[top : top + 8, left : left + 8] = 1.0
    classes = np.zeros([CELLS, CELLS], np.int32)
    classes[(top + 4) * CELLS // SIZE, (left + 4) * CELLS // SIZE] = 1
    box = np.array([top, left, top + 8, left + 8], np.float32) / SIZE
    return image, classes, np.tile(box, [CELLS, CELLS, 1])


def main(_):
    np.random.seed(0)
    tf.logging.set_verbosity(tf.logging.ERROR)
    with tf.Graph().as_default():
        tf.set_random_seed(0)
        deploy_config = model_deploy.DeploymentConfig(
            num_clones=FLAGS.num_clones, clone_on_cpu=FLAGS.clone_on_cpu
        )
        with tf.device(deploy_config.variables_device()):
            global_step = slim.create_global_step()
        with tf.device(deploy_config.inputs_device()):
            index = tf.train.range_input_producer(1000, shuffle=False).dequeue()
            tensors = tf.py_func(example, [index], [tf.float32, tf.int32, tf.float32])
            for tensor, shape in zip(tensors, ([SIZE, SIZE, 3], [CELLS, CELLS], [CELLS, CELLS, 4])):
                tensor.set_shape(shape)
            batch = tf.train.batch(tensors, batch_size=16, num_threads=1, capacity=64)
            queue = slim.prefetch_queue.prefetch_queue(batch, capacity=2 * FLAGS.num_clones)

        def clone_fn(batch_queue):
            image, classes, boxes = batch_queue.dequeue()
            with slim.arg_scope(ssd_arg_scope(weight_decay=FLAGS.weight_decay)):
                logits, localisations, end_points = ssd_net(image)
            ssd_losses(logits, localisations, classes, boxes)
            return end_points

        clones = model_deploy.create_clones(deploy_config, clone_fn, [queue])
        update_ops = tf.get_collection(tf.GraphKeys.UPDATE_OPS, deploy_config.clone_scope(0))
        with tf.device(deploy_config.optimizer_device()):
            optimizer = tf.train.AdamOptimizer(0.003)
        total_loss, gradients = model_deploy.optimize_clones(
            clones, optimizer, var_list=tf.trainable_variables()
        )
        tf.summary.scalar("total_loss", total_loss)
        update_ops.append(optimizer.apply_gradients(gradients, global_step=global_step))
        with tf.control_dependencies([tf.group(*update_ops)]):
            train_tensor = tf.identity(total_loss, name="train_op")
        losses = []

        def train_step_fn(sess, train_op, step, kwargs):
            loss, should_stop = slim.learning.train_step(sess, train_op, step, kwargs)
            losses.append(loss)
            return loss, should_stop

        slim.learning.train(
            train_tensor,
            logdir=sys.argv[1],
            train_step_fn=train_step_fn,
            number_of_steps=FLAGS.max_number_of_steps,
            log_every_n_steps=10,
            save_summaries_secs=600,
            saver=tf.train.Saver(max_to_keep=5),
            session_config=tf.ConfigProto(allow_soft_placement=True),
        )
    print("clones %d devices %s" % (len(clones), [clone.device for clone in clones]))
    print("loss %.2f to %.2f" % (losses[0], losses[-1]))


if __name__ == "__main__":
    tf.app.run()
