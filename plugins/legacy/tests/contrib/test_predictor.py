"""Predictors of a SavedModel and of an estimator."""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame_legacy import estimator as tf_estimator
from tf_frame_legacy.contrib import predictor


def model_fn(features, labels, mode):
    weight = tf.get_variable("weight", [], initializer=tf.constant_initializer(3.0))
    outputs = {"y": features["x"] * weight}
    exports = {
        "serving_default": tf_estimator.export.PredictOutput(outputs),
        "double": tf_estimator.export.PredictOutput({"z": 2.0 * outputs["y"]}),
    }
    step = tf.assign_add(tf.train.get_global_step(), 1)
    return tf_estimator.EstimatorSpec(
        mode, outputs, loss=tf.constant(0.0), train_op=step, export_outputs=exports
    )


def receiver():
    features = {"x": tf.placeholder(tf.float32, [None], "input")}
    return tf_estimator.export.ServingInputReceiver(features, features)


@pytest.fixture
def estimator(tmp_path):
    made = tf_estimator.Estimator(model_fn, str(tmp_path / "model"))
    made.train(lambda: {"x": tf.constant([1.0])}, steps=1)
    return made


def test_a_saved_model_and_an_estimator(estimator, tmp_path):
    path = estimator.export_saved_model(str(tmp_path / "out"), receiver)
    predict = predictor.from_saved_model(path)
    assert (list(predict.feed_tensors), list(predict.fetch_tensors)) == (["x"], ["y"])
    np.testing.assert_array_equal(predict({"x": [1.0, 2.0]})["y"], [3.0, 6.0])
    assert predict.session.graph is predict.graph
    with pytest.raises(ValueError, match="Got unexpected keys in input_dict"):
        predict({"w": [1.0]})

    double = predictor.from_saved_model(path.decode(), signature_def_key="double")
    np.testing.assert_array_equal(double({"x": [1.0]})["z"], [6.0])
    names = {"a": "input:0"}, {"b": double.fetch_tensors["z"].name}
    by_name = predictor.from_saved_model(path, input_names=names[0], output_names=names[1])
    np.testing.assert_array_equal(by_name({"a": [1.0]})["b"], [6.0])

    of_estimator = predictor.from_estimator(estimator, receiver, output_key="double")
    np.testing.assert_array_equal(of_estimator({"x": [2.0]})["z"], [12.0])

    for arguments, message in (
        ({"signature_def_key": "other"}, 'Got signature_def_key "other"'),
        ({"signature_def_key": "double", "signature_def": object()}, "at most one of"),
        ({"input_names": {}}, "must both be specified or both be None"),
    ):
        with pytest.raises(ValueError, match=message):
            predictor.from_saved_model(path, **arguments)
    with pytest.raises(TypeError, match="Expected estimator to be of type"):
        predictor.from_estimator(model_fn, receiver)
