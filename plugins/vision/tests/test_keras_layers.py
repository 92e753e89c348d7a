"""Files of Keras begin networks that answer as Keras's models do."""

import functools

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame import NetworkContext
from tf_frame.errors import DataError
from tf_frame.weights.values import read_values
from tf_frame_vision.keras_layers import keras_variables
from tf_frame_vision.nets import vgg
from tf_frame_vision.slim_network import load_network

SIZE = 32
IMAGES = np.random.RandomState(1).uniform(-1, 1, [2, SIZE, SIZE, 3]).astype(np.float32)


@functools.cache
def keras_model(name, **options):
    """A model of keras.applications with random values, those of batch norm included."""
    make = getattr(tf.keras.applications, name)
    model = make(weights=None, input_shape=(SIZE, SIZE, 3), **options)
    random = np.random.RandomState(0)
    for layer in model.layers:
        values = [
            random.uniform(0.7, 1.3, value.shape) if value.ndim == 1 else value
            for value in layer.get_weights()
        ]
        layer.set_weights(values)
    return model


def outputs_with(values, build):
    """The outputs of a network of ours with these values."""
    with tf.Graph().as_default(), tf.Session() as session:
        outputs = build(tf.constant(IMAGES))
        variables = {v.op.name: v for v in tf.global_variables()}
        assert variables.keys() == values.keys()
        session.run([variables[name].assign(value) for name, value in values.items()])
        return session.run(outputs)


def classifier(name, classes, images):
    context = NetworkContext(num_classes=classes, is_training=False)
    return load_network(name)(images, context)[0]


def read(path):
    return {name: value for name, _, value in read_values(str(path))}


@pytest.mark.parametrize("ending", [".h5", ".keras", ".weights.h5"])
def test_mobilenet_of_each_kind_of_file(tmp_path, ending):
    model = keras_model("MobileNet", alpha=0.25, classes=7, classifier_activation=None)
    path = tmp_path / f"model{ending}"
    (model.save_weights if ending == ".weights.h5" else model.save)(path)
    found = outputs_with(read(path), functools.partial(classifier, "mobilenet_v1_025", 7))
    expected = model(IMAGES, training=False).numpy()
    assert expected.std() > 1e-3
    np.testing.assert_allclose(found, expected, atol=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("keras_name", "options", "name"),
    [
        ("MobileNetV2", {"alpha": 0.35}, "mobilenet_v2_035"),
        ("MobileNetV2", {"alpha": 1.4}, "mobilenet_v2_140"),
        ("MobileNetV3Small", {"include_preprocessing": False}, "mobilenet_v3_small"),
        ("MobileNetV3Large", {"include_preprocessing": False}, "mobilenet_v3_large"),
        (
            "MobileNetV3Small",
            {"include_preprocessing": False, "minimalistic": True},
            "mobilenet_v3_small_minimalistic",
        ),
    ],
)
def test_other_mobilenets(tmp_path, keras_name, options, name):
    model = keras_model(keras_name, classes=7, classifier_activation=None, **options)
    model.save_weights(tmp_path / "model.weights.h5")
    values = read(tmp_path / "model.weights.h5")
    found = outputs_with(values, functools.partial(classifier, name, 7))
    expected = model(IMAGES, training=False).numpy()
    assert expected.std() > 1e-3
    np.testing.assert_allclose(found, expected, atol=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("layers", [16, 19])
def test_vgg_gets_the_channels_in_its_own_order(tmp_path, layers):
    model = keras_model(f"VGG{layers}", include_top=False)
    model.save(tmp_path / "model.h5")

    def build(images):
        make = getattr(vgg, f"vgg_{layers}")
        _, points = make(images, 0, is_training=False, fc_conv_padding="SAME")
        return points[f"vgg_{layers}/pool5"]

    with tf.Graph().as_default():
        build(tf.constant(IMAGES))
        zeros = {v.op.name: np.zeros(v.shape.as_list()) for v in tf.global_variables()}
    values = read(tmp_path / "model.h5")
    assert all("/fc" in name for name in zeros.keys() - values.keys())
    expected = model(IMAGES[..., ::-1], training=False).numpy()
    assert expected.std() > 1e-3
    np.testing.assert_allclose(outputs_with({**zeros, **values}, build), expected, atol=1e-4)


def test_the_dense_layers_of_vgg_become_convolutions():
    layers = [(1, 2), (2, 2), (3, 3), (4, 3), (5, 3)]
    values = {f"block{b}_conv{n + 1}/bias": np.zeros(1) for b, r in layers for n in range(r)}
    dense = np.arange(49 * 2 * 3).reshape(98, 3)
    values |= {"fc1/kernel": dense, "fc2/kernel": dense, "predictions/bias": np.ones(3)}
    found = keras_variables("vgg", "vgg_16", values)
    np.testing.assert_array_equal(found["vgg_16/fc6/weights"], dense.reshape(7, 7, 2, 3))
    assert found["vgg_16/fc7/weights"].shape == (1, 1, 98, 3)
    assert found["vgg_16/fc8/biases"].tolist() == [1, 1, 1]
    assert not keras_variables("vgg", "vgg_19", values)
    more = {f"block{b}_conv4/bias": np.zeros(1) for b in (3, 4, 5)}
    assert not keras_variables("vgg", "vgg_16", {**values, **more})
    assert keras_variables("vgg", "vgg_19", {**values, **more})


def test_names_that_keras_2_gave_version_3():
    names = [
        f"expanded_conv_{n}/{p}/BatchNorm/gamma"
        for n in range(1, 11)
        for p in ("expand", "depthwise", "project")
    ]
    values = dict.fromkeys([*names, *(n.replace("BatchNorm/gamma", "kernel") for n in names)])
    values = {name: np.zeros([1]) for name in values}
    values |= {"Conv/BatchNorm/beta": np.ones(1), "Logits/bias": np.ones(1)}
    values |= {"expanded_conv_1/squeeze_excite/Conv_1/kernel": np.ones(1)}
    found = keras_variables("mobilenet_v3", "small", values)
    assert {name.removeprefix("MobilenetV3/") for name, value in found.items() if value.any()} == {
        "Conv/BatchNorm/beta",
        "Logits/Conv2d_1c_1x1/biases",
        "expanded_conv_1/squeeze_excite/Conv_1/weights",
    }
    assert "MobilenetV3/expanded_conv_10/depthwise/depthwise_weights" in found


@pytest.mark.parametrize("layer", ["conv2_block1_1_conv", "res2a_branch2a"])
def test_residual_networks_are_refused_with_the_reason(layer):
    with pytest.raises(DataError, match="strides or paddings elsewhere than slim's"):
        keras_variables("resnet_v1", "resnet_v1_50", {f"{layer}/kernel": np.zeros(1)})
    assert not keras_variables("lenet", "lenet", {f"{layer}/kernel": np.zeros(1)})
