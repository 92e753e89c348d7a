"""clip_gradients_by_norm, forward_features and exports of tf.contrib.estimator."""

import os

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame_legacy import estimator as tf_estimator
from tf_frame_legacy.contrib import estimator as contrib_estimator


def model_fn(features, labels, mode, params):
    assert params == {"key": 1}
    weight = tf.get_variable("weight", [], initializer=tf.ones_initializer())
    predictions = {"y": features["x"] * weight}
    if mode == "infer":
        exports = {"predict": tf_estimator.export.PredictOutput(predictions)}
        return tf_estimator.EstimatorSpec(mode, predictions, export_outputs=exports)
    loss = tf.reduce_mean(tf.square(predictions["y"] - labels))
    train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())
    return tf_estimator.EstimatorSpec(mode, predictions, loss, train_op)


def input_fn(params):
    assert params == {"key": 1}
    sparse = tf.sparse.from_dense([[5, 0], [0, 6]])
    features = {"x": [1.0, 2.0], "id": [b"a", b"b"], "sparse": sparse}
    return tf.data.Dataset.from_tensors((features, [2.0, 4.0]))


@pytest.fixture
def estimator(tmp_path):
    return tf_estimator.Estimator(model_fn, str(tmp_path / "model"), params={"key": 1})


def test_gradients_are_clipped_by_their_global_norm(graph, variable_mode):
    variables = [tf.get_variable(n, [], initializer=tf.zeros_initializer()) for n in "ab"]
    wrapped = tf.train.MomentumOptimizer(1.0, 0.9)
    optimizer = contrib_estimator.clip_gradients_by_norm(wrapped, 1.0)
    step = optimizer.minimize(3.0 * variables[0] + 4.0 * variables[1])
    assert optimizer.get_name() == "ClipByNormMomentum"
    assert optimizer.get_slot_names() == ["momentum"]
    assert optimizer.get_slot(variables[0], "momentum") is not None
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(step)
        np.testing.assert_allclose(session.run(variables), [-0.6, -0.8], rtol=1e-6)


def test_features_are_forwarded_to_predictions_and_exports(estimator, tmp_path):
    forwarding = contrib_estimator.forward_features(
        estimator, ["id", "sparse"], sparse_default_values={"sparse": 7}
    )
    forwarding.train(input_fn)
    rows = list(forwarding.predict(input_fn))
    assert [row["id"] for row in rows] == [b"a", b"b"]
    np.testing.assert_array_equal([row["sparse"] for row in rows], [[5, 7], [7, 6]])

    def receiver():
        x, key = tf.placeholder(tf.float32, [None]), tf.placeholder(tf.string, [None])
        features = {"x": x, "id": key}
        return tf_estimator.export.ServingInputReceiver(features, features)

    path = contrib_estimator.export_saved_model_for_mode(
        contrib_estimator.forward_features(estimator, "id"), str(tmp_path / "out"), receiver
    )
    with tf.Session(graph=tf.Graph()) as session:
        loaded = tf.saved_model.load(session, ["serve"], os.fsdecode(path))
    assert sorted(loaded.signature_def["predict"].outputs) == ["id", "y"]


def test_wrong_features(estimator):
    with pytest.raises(TypeError, match="keys should be either a string or a list"):
        contrib_estimator.forward_features(estimator, 1)
    with pytest.raises(TypeError, match="should be a string"):
        contrib_estimator.forward_features(estimator, ["x", 1])
    for keys, defaults, message in (
        (None, None, r"Feature \(sparse\) should be a Tensor"),
        ("other", None, 'Key "other" is not in features'),
        ("x", {"x": 1}, r"Feature \(x\) is expected to be a `SparseTensor`"),
    ):
        forwarding = contrib_estimator.forward_features(estimator, keys, defaults)
        with pytest.raises(ValueError, match=message):
            next(forwarding.predict(input_fn))


@pytest.mark.slow
def test_metrics_of_evaluations_are_read_from_event_files(estimator):
    estimator.train(input_fn)
    result = estimator.evaluate(input_fn)
    metrics = contrib_estimator.read_eval_metrics(estimator.eval_dir())
    assert list(metrics) == [1]
    assert metrics[1]["loss"] == pytest.approx(result["loss"])
