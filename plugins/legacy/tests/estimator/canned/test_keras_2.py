"""model_to_estimator trains models of TensorFlow's own part of Keras 2, in graphs."""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame_legacy import estimator
from tf_frame_legacy.estimator.canned.keras import model_to_estimator
from tf_frame_legacy.program.view import view

keras = view("tf.keras")
X = np.random.RandomState(0).randn(32, 3).astype(np.float32)
Y = X.sum(axis=1, keepdims=True)


@pytest.fixture(autouse=True)
def keras_graph():
    """Keras keeps a session and a learning phase for each graph."""
    with tf.Graph().as_default():
        yield


def data(labels=Y, epochs=1, features=X):
    return estimator.inputs.numpy_input_fn(features, labels, 16, num_epochs=epochs, shuffle=False)


def compiled(optimizer, **options):
    model = keras.Sequential(
        [keras.layers.BatchNormalization(input_shape=(3,)), keras.layers.Dense(1, name="out")]
    )
    model.compile(optimizer, "mse", metrics=["mae"], **options)
    return model


@pytest.mark.slow
@pytest.mark.parametrize("optimizer", ["adam", "tf.train"])
def test_trains_and_goes_on(tmp_path, optimizer):
    if optimizer == "tf.train":
        optimizer = tf.train.AdamOptimizer(0.05)
    trained = model_to_estimator(compiled(optimizer), model_dir=str(tmp_path))
    trained.train(data(epochs=None), steps=2)
    before = trained.evaluate(data())
    after = trained.train(data(epochs=None), steps=30).evaluate(data())
    assert after["global_step"] == 32
    assert after["loss"] < before["loss"]
    assert after["mae"] < before["mae"]
    # Moving averages are updated, too.
    assert trained.get_variable_value("batch_normalization/moving_mean").any()
    predicted = [row["out"] for row in trained.predict(data(None))]
    assert np.mean(np.abs(predicted - Y)) == pytest.approx(after["mae"], rel=1e-4)


def test_training_begins_with_the_weights_of_the_model(tmp_path):
    model = compiled("sgd")
    model.fit(X, Y, batch_size=16, epochs=2, verbose=0)
    loss, mae = model.evaluate(X, Y, batch_size=16, verbose=0)
    trained = model_to_estimator(model, model_dir=str(tmp_path))
    metrics = trained.evaluate(data())
    assert (metrics["loss"], metrics["mae"]) == pytest.approx((loss, mae), rel=1e-4)


@pytest.mark.slow
def test_inputs_and_outputs_by_name(tmp_path):
    inputs = [keras.Input((2,), name="left"), keras.Input((1,), name="right")]
    joined = keras.layers.concatenate(inputs)
    outputs = [
        keras.layers.Dense(1, name="sum")(joined),
        keras.layers.Dense(2, activation="softmax", name="sign")(joined),
    ]
    model = keras.Model(inputs, outputs)
    losses = {"sum": "mse", "sign": "sparse_categorical_crossentropy"}
    model.compile(keras.optimizers.Adam(0.05), losses, metrics={"sign": ["acc"]})
    trained = model_to_estimator(model, model_dir=str(tmp_path))
    features = {"left": X[:, :2], "right": X[:, 2:]}
    labels = {"sum": Y, "sign": (Y > 0).astype(np.int64)}
    before = trained.train(data(labels, None, features), steps=1).evaluate(
        data(labels, features=features)
    )
    after = trained.train(data(labels, None, features), steps=40).evaluate(
        data(labels, features=features)
    )
    assert after["loss"] < before["loss"]
    assert after["sign_acc"] > 0.8
    with pytest.raises(KeyError, match="right"):
        trained.train(data(labels, None, {"left": X[:, :2]}), steps=1)


def test_a_model_that_is_not_compiled_is_refused():
    with pytest.raises(ValueError, match="not compiled"):
        model_to_estimator(keras.Sequential([keras.layers.Dense(1, input_shape=(3,))]))
