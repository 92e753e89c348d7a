"""A model function of one's own: linear regression by gradient descent.

Written for TensorFlow 1.15; only the import of `estimator` is another.
"""

import argparse
import json

import numpy as np
import tensorflow.compat.v1 as tf

from tf_frame_legacy import estimator

parser = argparse.ArgumentParser()
parser.add_argument("--model_dir", required=True)
parser.add_argument("--learning_rate", type=float, default=0.1)
parser.add_argument("--batch_size", type=int, default=8)
parser.add_argument("--train_steps", type=int, default=20)
parser.add_argument("--num_calls", type=int, default=1)
parser.add_argument("--v1", action="store_true")


def make_data(seed):
    random = np.random.RandomState(seed)
    features = random.randn(32, 3).astype(np.float32)
    noise = 0.1 * random.randn(32)
    labels = (features @ [1.5, -2.0, 0.5] + 3.0 + noise).astype(np.float32)
    return features, labels


def train_input_fn(batch_size):
    dataset = tf.data.Dataset.from_tensor_slices(make_data(seed=0))
    return dataset.repeat().batch(batch_size)


def eval_input_fn():
    dataset = tf.data.Dataset.from_tensor_slices(make_data(seed=1)).batch(12)
    return tf.data.make_one_shot_iterator(dataset).get_next()


def model_fn(features, labels, mode, params):
    with tf.variable_scope("linear"):
        weights = tf.get_variable("weights", [3, 1], initializer=tf.zeros_initializer())
        bias = tf.get_variable("bias", [1], initializer=tf.zeros_initializer())
    predictions = tf.squeeze(tf.matmul(features, weights) + bias, axis=1)
    if mode == estimator.ModeKeys.PREDICT:
        return estimator.EstimatorSpec(mode, predictions={"price": predictions})

    loss = tf.losses.mean_squared_error(labels, predictions)
    if mode == estimator.ModeKeys.EVAL:
        metrics = {
            "mae": tf.metrics.mean_absolute_error(labels, predictions),
            "rmse": tf.metrics.root_mean_squared_error(labels, predictions),
        }
        return estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops=metrics)

    optimizer = tf.train.GradientDescentOptimizer(params["learning_rate"])
    train_op = optimizer.minimize(loss, global_step=tf.train.get_global_step())
    return estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def main():
    args = parser.parse_args()
    if args.v1:
        tf.disable_v2_behavior()
    tf.logging.set_verbosity(tf.logging.INFO)

    regressor = estimator.Estimator(
        model_fn=model_fn,
        model_dir=args.model_dir,
        params={"learning_rate": args.learning_rate},
    )
    for _ in range(args.num_calls):
        regressor.train(lambda: train_input_fn(args.batch_size), steps=args.train_steps)
    results = regressor.evaluate(eval_input_fn)
    results = {name: float(value) for name, value in results.items()}
    results["weights"] = regressor.get_variable_value("linear/weights")[:, 0].tolist()
    results["bias"] = regressor.get_variable_value("linear/bias")[0].tolist()
    results["names"] = regressor.get_variable_names()
    print(json.dumps(results))


if __name__ == "__main__":
    main()
