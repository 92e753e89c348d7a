"""Fine-tuning of another model, evaluated and exported at every checkpoint.

Written for TensorFlow 1.15; only the import of `estimator` is another.
"""

import json

import numpy as np
import tensorflow.compat.v1 as tf
from absl import app, flags

from tf_frame_legacy import estimator

FLAGS = flags.FLAGS
flags.DEFINE_string("model_dir", None, "Where checkpoints go.", required=True)
flags.DEFINE_string("warm_start_from", None, "A folder with checkpoints.", required=True)
flags.DEFINE_integer("max_steps", 30, "Steps to train.")
flags.DEFINE_boolean("v1", False, "Whether to switch TensorFlow 2 off.")

LEARNING_RATE = 0.05


def make_data(seed):
    random = np.random.RandomState(seed)
    x = random.randn(24, 3).astype(np.float32)
    return x, (x @ [1.0, -2.0, 1.0] + 2.0).astype(np.float32)


def input_fn(mode, params):
    is_training = mode == estimator.ModeKeys.TRAIN
    x, y = make_data(seed=params["train_seed"] if is_training else params["eval_seed"])
    dataset = tf.data.Dataset.from_tensor_slices(({"x": x}, y))
    if is_training:
        return dataset.repeat().batch(24)
    return tf.data.make_one_shot_iterator(dataset.batch(10)).get_next()


def model_fn(features, labels, mode, params, config):
    assert config.model_dir == FLAGS.model_dir
    with tf.variable_scope("tuned"):
        kernel = tf.get_variable("kernel", [3, 1])
        bias = tf.get_variable("bias", [1], initializer=tf.ones_initializer())
    predictions = tf.squeeze(tf.matmul(features["x"], kernel) + bias, axis=1)
    if mode == estimator.ModeKeys.PREDICT:
        outputs = {
            "serving_default": estimator.export.PredictOutput({"price": predictions}),
            "regress": estimator.export.RegressionOutput(predictions),
        }
        return estimator.EstimatorSpec(
            mode, predictions={"price": predictions}, export_outputs=outputs
        )
    loss = tf.losses.mean_squared_error(labels, predictions)
    train_op = None
    if mode == estimator.ModeKeys.TRAIN:
        optimizer = tf.train.MomentumOptimizer(params["learning_rate"], 0.5)
        train_op = optimizer.minimize(loss, tf.train.get_global_step())
    metrics = {"mae": tf.metrics.mean_absolute_error(labels, predictions)}
    return estimator.EstimatorSpec(mode, loss=loss, train_op=train_op, eval_metric_ops=metrics)


def serving_input_receiver_fn():
    serialized = tf.placeholder(tf.string, [None], name="examples")
    features = tf.io.parse_example(serialized, {"x": tf.io.FixedLenFeature([3], tf.float32)})
    return estimator.export.ServingInputReceiver(features, {"examples": serialized})


def loss_is_smaller(best_eval_result, current_eval_result):
    return current_eval_result["loss"] < best_eval_result["loss"]


def main(argv):
    del argv
    if FLAGS.v1:
        tf.disable_v2_behavior()
    config = estimator.RunConfig(
        model_dir=FLAGS.model_dir,
        tf_random_seed=7,
        save_checkpoints_steps=10,
        keep_checkpoint_max=2,
        save_summary_steps=5,
        log_step_count_steps=10,
    )
    settings = estimator.WarmStartSettings(
        FLAGS.warm_start_from,
        vars_to_warm_start="tuned/kernel",
        var_name_to_prev_var_name={"tuned/kernel": "linear/weights"},
    )
    tuned = estimator.Estimator(
        model_fn,
        config=config,
        params={"learning_rate": LEARNING_RATE, "train_seed": 2, "eval_seed": 3},
        warm_start_from=settings,
    )
    exporters = [
        estimator.LatestExporter("latest", serving_input_receiver_fn, exports_to_keep=2),
        estimator.BestExporter(
            name="best",
            serving_input_receiver_fn=serving_input_receiver_fn,
            event_file_pattern="eval_holdout/*.tfevents.*",
            compare_fn=loss_is_smaller,
            exports_to_keep=1,
        ),
        estimator.FinalExporter("final", serving_input_receiver_fn),
    ]
    train_spec = estimator.TrainSpec(input_fn, max_steps=FLAGS.max_steps)
    eval_spec = estimator.EvalSpec(
        input_fn,
        steps=None,
        name="holdout",
        exporters=exporters,
        start_delay_secs=0,
        throttle_secs=0,
    )
    metrics, exports = estimator.train_and_evaluate(tuned, train_spec, eval_spec)
    print(
        json.dumps(
            {
                "metrics": {name: float(value) for name, value in metrics.items()},
                "exports": [tf.compat.as_str(path) if path else None for path in exports],
                "kernel": tuned.get_variable_value("tuned/kernel")[:, 0].tolist(),
                "bias": tuned.get_variable_value("tuned/bias")[0].tolist(),
            }
        )
    )


if __name__ == "__main__":
    app.run(main)
