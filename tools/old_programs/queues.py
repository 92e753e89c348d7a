"""Trains on records through queues, under a Supervisor."""

from __future__ import print_function

import os
import sys

import numpy as np
import tensorflow as tf

flags = tf.app.flags
flags.DEFINE_float("learning_rate", 0.1, "Learning rate.")
flags.DEFINE_boolean("log_device_placement", False, "Whether to log device placement.")
FLAGS = flags.FLAGS


def write_records(path, count):
    random = np.random.RandomState(0)
    writer = tf.python_io.TFRecordWriter(path)
    for _ in range(count):
        x = random.randint(0, 256, 8).astype(np.uint8)
        label = int(x[:4].astype(int).sum() > x[4:].astype(int).sum())
        example = tf.train.Example(
            features=tf.train.Features(
                feature={
                    "x": tf.train.Feature(bytes_list=tf.train.BytesList(value=[x.tobytes()])),
                    "label": tf.train.Feature(int64_list=tf.train.Int64List(value=[label])),
                }
            )
        )
        writer.write(example.SerializeToString())
    writer.close()


def read_and_decode(filename_queue):
    reader = tf.TFRecordReader()
    _, serialized = reader.read(filename_queue)
    features = tf.parse_single_example(
        serialized,
        features={
            "x": tf.FixedLenFeature([], tf.string),
            "label": tf.FixedLenFeature([], tf.int64),
        },
    )
    x = tf.decode_raw(features["x"], tf.uint8)
    x.set_shape([8])
    return tf.cast(x, tf.float32) * (1.0 / 255) - 0.5, tf.cast(features["label"], tf.int32)


def main(_):
    folder = sys.argv[1]
    tf.gfile.MakeDirs(folder)
    path = os.path.join(folder, "train.tfrecords")
    write_records(path, 200)
    with tf.name_scope("input"):
        filename_queue = tf.train.string_input_producer([path], num_epochs=3)
        x, label = read_and_decode(filename_queue)
        images, labels = tf.train.shuffle_batch(
            [x, label], batch_size=20, num_threads=2, capacity=100, min_after_dequeue=40
        )
    with tf.name_scope("hidden", [images]):
        weights = tf.Variable(tf.truncated_normal([8, 2], stddev=0.1, seed=1), name="weights")
        biases = tf.Variable(tf.zeros([2]), name="biases")
        logits = tf.nn.xw_plus_b(images, weights, biases)
    loss = tf.reduce_mean(
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    )
    tf.summary.scalar("loss", loss)
    global_step = tf.Variable(0, name="global_step", trainable=False)
    train_op = tf.train.GradientDescentOptimizer(FLAGS.learning_rate).minimize(
        loss, global_step=global_step
    )
    supervisor = tf.train.Supervisor(
        logdir=folder,
        global_step=global_step,
        save_model_secs=0,
        save_summaries_secs=0,
        local_init_op=tf.group(tf.local_variables_initializer(), tf.tables_initializer()),
    )
    losses = []
    config = tf.ConfigProto(log_device_placement=FLAGS.log_device_placement)
    with supervisor.managed_session(config=config) as sess:
        try:
            while not supervisor.should_stop():
                _, value = sess.run([train_op, loss])
                losses.append(value)
        except tf.errors.OutOfRangeError:
            print("Done training for 3 epochs, %d steps." % len(losses))
        supervisor.saver.save(sess, supervisor.save_path, global_step=global_step)
        supervisor.request_stop()
    print("loss %.2f to %.2f" % (np.mean(losses[:5]), np.mean(losses[-5:])))


if __name__ == "__main__":
    tf.app.run()
