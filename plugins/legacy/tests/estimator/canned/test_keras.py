"""model_to_estimator trains models of Keras 3."""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from refusals import refusal
from tf_frame_legacy import estimator
from tf_frame_legacy.estimator.canned.keras import model_to_estimator

keras = tf.compat.v2.keras
X = np.random.RandomState(0).randn(32, 3).astype(np.float32)
Y = X.sum(axis=1)


def data(labels=Y, epochs=1):
    return estimator.inputs.numpy_input_fn(X, labels, 16, num_epochs=epochs, shuffle=False)


@pytest.mark.slow
def test_trains_from_the_weights_of_the_model(tmp_path):
    model = keras.Sequential(
        [keras.layers.Input((3,)), keras.layers.BatchNormalization(), keras.layers.Dense(1)]
    )
    model.compile(keras.optimizers.SGD(0.05), "mse", metrics=["mae"])
    loss, mae = model.evaluate(X, Y, verbose=0)
    trained = model_to_estimator(model, model_dir=str(tmp_path))
    before = trained.evaluate(data())
    assert (before["loss"], before["mae"]) == pytest.approx((loss, mae), rel=1e-5)
    trained.train(data(epochs=None), steps=2).train(data(epochs=None), steps=30)
    after = trained.evaluate(data())
    assert after["global_step"] == 32 and after["loss"] < before["loss"] / 3
    # Moving averages are updated, too.
    assert trained.get_variable_value("batch_normalization/moving_mean").any()
    (first, *_) = trained.predict(data(None))
    assert list(first) == [model.layers[-1].name]


@pytest.mark.slow
def test_several_outputs(tmp_path):
    inputs = keras.Input((3,), name="x")
    outputs = [
        keras.layers.Dense(1, name="sum")(inputs),
        keras.layers.Dense(2, activation="softmax", name="sign")(inputs),
    ]
    model = keras.Model(inputs, outputs)
    losses = {"sum": "mse", "sign": "sparse_categorical_crossentropy"}
    model.compile("adam", losses, loss_weights={"sum": 1.0, "sign": 0.5})
    trained = model_to_estimator(model, model_dir=str(tmp_path))
    labels = {"sum": Y, "sign": (Y > 0).astype(np.int64)}
    before = trained.evaluate(data(labels))["loss"]
    assert trained.train(data(labels, None), steps=40).evaluate(data(labels))["loss"] < before


def test_refusals():
    assert "one of" in refusal(model_to_estimator)[1]
    assert "no model of Keras" in refusal(model_to_estimator, 3)[1]
    plain = keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(1)])
    assert "not compiled" in refusal(model_to_estimator, plain)[1]
