"""Trains an Estimator on several devices by replicate_model_fn."""

from __future__ import print_function

import sys

import numpy as np
import tensorflow as tf


def model_fn(features, labels, mode, params):
    hidden = tf.layers.dense(features["x"], 8, activation=tf.nn.relu, name="hidden")
    hidden = tf.layers.batch_normalization(hidden, training=mode == tf.estimator.ModeKeys.TRAIN)
    logits = tf.layers.dense(hidden, 2, name="logits")
    predictions = {"classes": tf.argmax(logits, axis=1)}
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions=predictions)
    loss = tf.losses.sparse_softmax_cross_entropy(labels=labels, logits=logits)
    metrics = {"accuracy": tf.metrics.accuracy(labels, predictions["classes"])}
    optimizer = tf.train.MomentumOptimizer(params["learning_rate"], 0.9)
    optimizer = tf.contrib.estimator.TowerOptimizer(optimizer)
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        train_op = optimizer.minimize(loss, global_step=tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(
        mode, predictions=predictions, loss=loss, train_op=train_op, eval_metric_ops=metrics
    )


def main(_):
    random = np.random.RandomState(0)
    x = random.normal(size=[256, 4]).astype(np.float32)
    y = (x[:, 0] > x[:, 1]).astype(np.int32)
    config = tf.estimator.RunConfig(
        model_dir=sys.argv[1],
        tf_random_seed=1,
        save_checkpoints_steps=20,
        session_config=tf.ConfigProto(device_count={"CPU": 2}, allow_soft_placement=True),
    )
    classifier = tf.estimator.Estimator(
        model_fn=tf.contrib.estimator.replicate_model_fn(
            model_fn, loss_reduction=tf.losses.Reduction.MEAN, devices=["/cpu:0", "/cpu:1"]
        ),
        config=config,
        params={"learning_rate": 0.1},
    )
    train_input_fn = tf.estimator.inputs.numpy_input_fn(
        x={"x": x}, y=y, batch_size=32, num_epochs=None, shuffle=True
    )
    eval_input_fn = tf.estimator.inputs.numpy_input_fn(
        x={"x": x}, y=y, batch_size=64, num_epochs=1, shuffle=False
    )
    classifier.train(train_input_fn, steps=40)
    result = classifier.evaluate(eval_input_fn)
    classes = [p["classes"] for p in classifier.predict(eval_input_fn)]
    print("step %d accuracy %.2f" % (result["global_step"], result["accuracy"]))
    print("predictions %d right %.2f" % (len(classes), np.mean(np.array(classes) == y)))


if __name__ == "__main__":
    tf.logging.set_verbosity(tf.logging.ERROR)
    tf.app.run()
