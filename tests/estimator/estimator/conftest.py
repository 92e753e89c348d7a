import numpy as np
import tensorflow as tf2
import tensorflow.compat.v1 as tf

from tf_frame import EstimatorSpec
from tf_frame.estimator import export
from tf_frame.testing.events import read_scalars
from tf_frame.testing.toy import WEIGHTS, ToyInput

INPUT = ToyInput(params=ToyInput.Params())
FEATURES = np.random.RandomState(0).randn(64, 3).astype(np.float32)
LABELS = FEATURES @ WEIGHTS
SGD = {"optimizer": "sgd", "learning_rate": 0.05}


def input_fn(mode):
    dataset = tf.data.Dataset.from_tensor_slices((FEATURES, LABELS))
    return (dataset.repeat() if mode == "train" else dataset).batch(8)


def model_fn(features, labels, mode):
    """Least squares; tf-frame makes the update."""
    weights = tf.get_variable("w", [3, 1], initializer=tf.zeros_initializer())
    predictions = tf.matmul(features, weights)
    if mode == "infer":
        return EstimatorSpec(mode, predictions={"y": predictions})
    return EstimatorSpec(mode, loss=tf.reduce_mean(tf.square(predictions - labels)))


def tags(folder):
    return {tag for _, tag, _ in read_scalars(folder)}


def sgd(steps, rate):
    """The weights after so many steps of gradient descent over batches of 8 in order."""
    weights = np.zeros((3, 1), np.float32)
    for step in range(steps):
        rows = slice(8 * (step % 8), 8 * (step % 8) + 8)
        x, y = FEATURES[rows], LABELS[rows]
        weights = weights - rate * 2 / 8 * x.T @ (x @ weights - y)
    return weights


def counted():
    return tf.data.Dataset.range(8).map(lambda n: (n, n)).batch(2)


def served(estimator, folder):
    """Outputs of an exported model for all features."""

    def receiver():
        features = tf.placeholder(tf.float32, [None, 3])
        return export.TensorServingInputReceiver(features, features)

    loaded = tf2.saved_model.load(estimator.export_saved_model(folder, receiver).decode())
    outputs = loaded.signatures["serving_default"](tf2.constant(FEATURES))
    return outputs["y"].numpy()
