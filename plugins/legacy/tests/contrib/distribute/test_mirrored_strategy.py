"""MirroredStrategy: two clones on logical CPUs, with batches of their own."""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame_legacy import estimator as tf_estimator
from tf_frame_legacy.contrib import distribute

DEVICES = ["/cpu:0", "/cpu:1"]
X = np.arange(1.0, 13.0, dtype=np.float32)
RATE = 0.001


def model_fn(features, labels, mode, params):
    weight = tf.get_variable("weight", [], initializer=tf.ones_initializer())
    count = tf.get_variable("steps_made", [], initializer=tf.zeros_initializer(), trainable=False)
    predictions = features["x"] * weight
    if mode == "infer":
        return tf_estimator.EstimatorSpec(mode, predictions)
    tf.losses.mean_squared_error(labels, predictions)
    loss = tf.losses.get_total_loss()
    optimizer = tf.train.MomentumOptimizer(RATE, 0.0)
    with tf.control_dependencies([tf.assign_add(count, 1.0, use_locking=True)]):
        train_op = optimizer.minimize(loss, tf.train.get_global_step())
    return tf_estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def input_fn(params):
    return tf.data.Dataset.from_tensor_slices(({"x": X}, 2 * X)).batch(2)


def make(folder, strategy):
    config = tf_estimator.RunConfig(
        str(folder),
        train_distribute=strategy,
        session_config=tf.ConfigProto(device_count={"CPU": 2}),
    )
    return tf_estimator.Estimator(model_fn, config=config, params={"unused": 1})


def test_a_step_takes_a_batch_for_each_clone(tmp_path):
    estimator = make(tmp_path / "model", distribute.MirroredStrategy(DEVICES))
    estimator.train(input_fn, steps=3)
    weight = 1.0
    for batch in X.reshape(3, 4).astype(np.float64):  # The mean of two batches of two.
        weight -= RATE * np.mean(2 * batch * (weight * batch - 2 * batch))
    assert estimator.get_variable_value("weight") == pytest.approx(weight, rel=1e-5)
    assert estimator.get_variable_value("steps_made") == 6
    assert estimator.get_variable_value("global_step") == 3
    assert "weight/Momentum" in estimator.get_variable_names()
    assert estimator.evaluate(input_fn)["global_step"] == 3
    assert len(list(estimator.predict(input_fn))) == 12


@pytest.mark.slow
def test_a_single_device_trains_as_without_a_strategy(tmp_path):
    values = []
    for name, strategy in (("one", distribute.OneDeviceStrategy("/cpu:0")), ("none", None)):
        estimator = make(tmp_path / name, strategy)
        estimator.train(input_fn, steps=2)
        values.append(estimator.get_variable_value("weight"))
    assert values[0] == values[1]


def test_devices_of_a_strategy():
    assert distribute.MirroredStrategy().worker_devices == ("/device:CPU:0",)
    strategy = distribute.MirroredStrategy(num_gpus=2)
    assert strategy.worker_devices == ("/device:GPU:0", "/device:GPU:1")
    assert strategy.num_replicas_in_sync == strategy.num_towers == 2
    assert distribute.MirroredStrategy(num_gpus_per_worker=0).num_replicas_in_sync == 1
    with pytest.raises(ValueError, match="cannot specify both `num_gpus`"):
        distribute.MirroredStrategy(num_gpus=1, num_gpus_per_worker=1)
    with pytest.raises(ValueError, match="Must only specify one of `devices`"):
        distribute.MirroredStrategy(DEVICES, num_gpus=1)


def test_tensors_instead_of_a_data_set_are_refused(tmp_path):
    estimator = make(tmp_path / "model", distribute.MirroredStrategy(DEVICES))
    with pytest.raises(ValueError, match="must return a tf.data.Dataset"):
        estimator.train(lambda: ({"x": tf.constant(X)}, tf.constant(X)), steps=1)


def test_an_input_function_gets_the_context_of_the_strategy(tmp_path):
    seen = []

    def sharded_input_fn(params, input_context=None):
        seen.append(input_context)
        return input_fn(params)

    estimator = make(tmp_path / "model", distribute.MirroredStrategy(DEVICES))
    estimator.train(sharded_input_fn, steps=1)
    (context,) = seen
    assert context.num_replicas_in_sync == 2
    assert (context.num_input_pipelines, context.input_pipeline_id) == (1, 0)
