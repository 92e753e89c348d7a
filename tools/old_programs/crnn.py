"""Reads numbers in images: convolutions, stacked bidirectional LSTMs and CTC."""

from __future__ import print_function

import os
import sys

import numpy as np
import tensorflow as tf
import tensorflow.contrib.slim as slim
from tensorflow.contrib import rnn

tf.app.flags.DEFINE_integer("steps", 30, "Number of steps.")
FLAGS = tf.app.flags.FLAGS
HEIGHT, WIDTH, CLASSES, DIGITS = 16, 32, 5, 3


def network(images, is_training):
    with slim.arg_scope(
        [slim.conv2d],
        normalizer_fn=slim.batch_norm,
        normalizer_params={"is_training": is_training, "decay": 0.9},
        weights_regularizer=slim.l2_regularizer(1e-4),
    ):
        net = slim.repeat(images, 1, slim.conv2d, 16, [3, 3], scope="conv1")
        net = slim.max_pool2d(net, [2, 2], scope="pool1")
        net = slim.conv2d(net, 32, [3, 3], scope="conv2")
        net = slim.max_pool2d(net, [2, 1], [2, 1], scope="pool2")
        net = slim.conv2d(net, 32, [4, 1], padding="VALID", scope="conv3")
    sequence = tf.squeeze(net, axis=1, name="squeeze")
    with tf.variable_scope("LSTMLayers"):
        fw_cells = [rnn.BasicLSTMCell(n, forget_bias=1.0) for n in (24, 24)]
        bw_cells = [rnn.BasicLSTMCell(n, forget_bias=1.0) for n in (24, 24)]
        outputs, _, _ = rnn.stack_bidirectional_dynamic_rnn(
            fw_cells, bw_cells, sequence, dtype=tf.float32
        )
        logits = slim.fully_connected(outputs, CLASSES + 1, activation_fn=None, scope="logits")
    return tf.transpose(logits, (1, 0, 2), name="transpose_time_major")


def batch(random, size):
    """Each digit is a bar whose height tells its class."""
    labels = random.randint(0, CLASSES, [size, DIGITS])
    images = random.uniform(0, 0.1, [size, HEIGHT, WIDTH, 1])
    for image, label in zip(images, labels):
        for place, digit in enumerate(label):
            image[: 3 * digit + 2, 10 * place + 2 : 10 * place + 8] = 1.0
    return images, labels


def main(_):
    folder = sys.argv[1]
    if not os.path.isdir(folder):
        os.makedirs(folder)
    tf.set_random_seed(0)
    images = tf.placeholder(tf.float32, [None, HEIGHT, WIDTH, 1])
    labels = tf.sparse_placeholder(tf.int32)
    logits = network(images, True)
    lengths = tf.fill([tf.shape(images)[0]], tf.shape(logits)[0])
    ctc = tf.reduce_mean(tf.nn.ctc_loss(labels=labels, inputs=logits, sequence_length=lengths))
    loss = ctc + tf.add_n(tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES))
    decoded, _ = tf.nn.ctc_beam_search_decoder(logits, lengths, merge_repeated=False)
    distance = tf.reduce_mean(tf.edit_distance(tf.cast(decoded[0], tf.int32), labels))
    global_step = tf.train.create_global_step()
    update_ops = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    with tf.control_dependencies(update_ops):
        train_op = tf.train.AdamOptimizer(0.01).minimize(loss=loss, global_step=global_step)
    tf.summary.scalar("ctc", ctc)
    merged = tf.summary.merge_all()
    writer = tf.summary.FileWriter(folder)
    saver = tf.train.Saver()
    random = np.random.RandomState(0)
    with tf.Session(config=tf.ConfigProto(allow_soft_placement=True)) as sess:
        sess.run(tf.global_variables_initializer())
        found = []
        for step in range(FLAGS.steps):
            pictures, digits = batch(random, 16)
            indices = [[i, j] for i in range(16) for j in range(DIGITS)]
            feed = {images: pictures, labels: (indices, digits.reshape(-1), [16, DIGITS])}
            _, value, error, summary = sess.run([train_op, ctc, distance, merged], feed)
            writer.add_summary(summary, step)
            found.append((value, error))
        saver.save(sess, os.path.join(folder, "crnn.ckpt"), global_step=global_step)
    print("loss %.2f to %.2f" % (found[0][0], found[-1][0]))
    print("distance %.2f" % found[-1][1])


if __name__ == "__main__":
    tf.app.run()
