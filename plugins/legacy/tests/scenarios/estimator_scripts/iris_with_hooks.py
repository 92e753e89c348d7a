"""A classifier of dictionaries of features, with hooks; predicts at the end.

Written for TensorFlow 1.15; only the import of `estimator` is another.
"""

import argparse
import json

import numpy as np
import tensorflow.compat.v1 as tf

from tf_frame_legacy import estimator

parser = argparse.ArgumentParser()
parser.add_argument("--model_dir", required=True)
parser.add_argument("--v1", action="store_true")

CLASSES = 3
LENGTHS = np.array([[1.0, 0.5], [4.0, 1.5], [6.0, 2.0]], np.float32)


class LossHistoryHook(estimator.SessionRunHook):
    """Remembers the loss before each step, and what it was called with."""

    def __init__(self):
        self.losses = []
        self.calls = []

    def begin(self):
        self.calls.append("begin")
        self._loss = tf.get_default_graph().get_tensor_by_name("total_loss:0")

    def after_create_session(self, session, coord):
        self.calls.append("after_create_session")

    def before_run(self, run_context):
        return estimator.SessionRunArgs({"loss": self._loss})

    def after_run(self, run_context, run_values):
        self.losses.append(float(run_values.results["loss"]))
        if self.losses[-1] < 0.05:
            run_context.request_stop()

    def end(self, session):
        self.calls.append("end")


def make_data(seed, rows):
    random = np.random.RandomState(seed)
    species = random.randint(0, CLASSES, rows).astype(np.int32)
    sizes = LENGTHS[species] + 0.1 * random.randn(rows, 2).astype(np.float32)
    features = {"petal_length": sizes[:, 0], "petal_width": sizes[:, 1]}
    return features, species


def model_fn(features, labels, mode):
    columns = [features["petal_length"], features["petal_width"]]
    inputs = tf.stack(columns, axis=1)
    weights = tf.get_variable("weights", [2, CLASSES], initializer=tf.zeros_initializer())
    biases = tf.get_variable("biases", [CLASSES], initializer=tf.zeros_initializer())
    logits = tf.matmul(inputs, weights) + biases
    classes = tf.argmax(logits, axis=1)
    predictions = {
        "class": classes,
        "probabilities": tf.nn.softmax(logits, name="softmax"),
        "logits": logits,
    }
    if mode == estimator.ModeKeys.PREDICT:
        return estimator.EstimatorSpec(mode=mode, predictions=predictions)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    loss = tf.identity(loss, name="total_loss")
    accuracy = tf.metrics.accuracy(labels, classes, name="accuracy_op")
    tf.summary.scalar("accuracy", accuracy[1])
    optimizer = tf.train.AdagradOptimizer(learning_rate=0.5)
    train_op = optimizer.minimize(loss, global_step=tf.train.get_global_step())
    return estimator.EstimatorSpec(
        mode=mode,
        predictions=predictions,
        loss=loss,
        train_op=train_op,
        eval_metric_ops={"accuracy": accuracy},
    )


def main():
    args = parser.parse_args()
    if args.v1:
        tf.disable_v2_behavior()
    tf.logging.set_verbosity(tf.logging.INFO)

    train_x, train_y = make_data(seed=0, rows=30)
    test_x, test_y = make_data(seed=1, rows=7)
    train_input_fn = estimator.inputs.numpy_input_fn(
        train_x, train_y, batch_size=30, num_epochs=None, shuffle=False
    )
    eval_input_fn = estimator.inputs.numpy_input_fn(test_x, test_y, num_epochs=1, shuffle=False)
    predict_input_fn = estimator.inputs.numpy_input_fn(test_x, batch_size=4, shuffle=False)

    classifier = estimator.Estimator(model_fn, args.model_dir)
    logging_hook = estimator.LoggingTensorHook({"mean_loss": "total_loss"}, every_n_iter=5)
    history = LossHistoryHook()
    classifier.train(train_input_fn, hooks=[logging_hook, history], steps=12)
    results = classifier.evaluate(eval_input_fn)
    predictions = classifier.predict(predict_input_fn, predict_keys=["class", "probabilities"])
    predictions = [
        {"class": int(each["class"]), "probabilities": each["probabilities"].tolist()}
        for each in predictions
    ]
    print(
        json.dumps(
            {
                "losses": history.losses,
                "calls": history.calls,
                "accuracy": float(results["accuracy"]),
                "loss": float(results["loss"]),
                "global_step": int(results["global_step"]),
                "predictions": predictions,
            }
        )
    )


if __name__ == "__main__":
    main()
