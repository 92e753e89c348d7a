"""Variables of the networks whose own tests build them but once, or in part."""

import importlib
import re

import pytest
import tensorflow.compat.v1 as tf

from tf_frame import NetworkContext
from tf_frame_vision.nets.alexnet import alexnet_v2
from tf_frame_vision.nets.cifarnet import cifarnet
from tf_frame_vision.nets.lenet import lenet
from tf_frame_vision.slim_network import load_network

_MILLION = 1e6
# Parameters that are trained, in millions with 1000 classes. Mobilenets: the READMEs of
# tensorflow/models, research/slim/nets (mobilenet_v1.md, mobilenet/README.md); xception: see
# test_xception.py. Of the residual networks test_resnet.py counts the tables.
PUBLISHED = {
    "mobilenet_v1_075": 2.59,
    "mobilenet_v1_050": 1.34,
    "mobilenet_v1_025": 0.47,
    "mobilenet_v2_140": 6.06,
    "mobilenet_v2_130": 5.34,
    "mobilenet_v2_075": 2.61,
    "mobilenet_v2_050": 1.95,
    "mobilenet_v2_035": 1.66,
    "mobilenet_v3_large": 5.4,
    "mobilenet_v3_large_minimalistic": 3.9,
    "mobilenet_v3_small_minimalistic": 2.0,
    "xception_41": 27.0,
    "xception_65": 39.9,
    "xception_71": 42.0,
}
DEEPLABS = ["resnet_v1_50_beta", "resnet_v1_101_beta", "xception_41", "xception_65", "xception_71"]
# slim's source has no version 3 that could be built here; Keras's stands for it in its own test.
# DeepLab's networks have tests of their variables, too.
WITHOUT_TABLE = [*(name for name in PUBLISHED if name.startswith("mobilenet_v3")), *DEEPLABS]
NAMES = [
    *(f"resnet_v{v}_{layers}" for v in (1, 2) for layers in (50, 101, 152, 200)),
    *("vgg_16", "vgg_19"),
    *(name for name in PUBLISHED if name.startswith("mobilenet")),
    *DEEPLABS,
]
MULTIPLIED = [name for name in NAMES if re.fullmatch("mobilenet_v[12]_[0-9]+", name)]


def cases():
    mobilenets = [name for name in NAMES if name.startswith("mobilenet")]
    return [*((name, 2) for name in NAMES), *((name, 1) for name in mobilenets)]


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.parametrize(("name", "num_clones"), cases())
def test_clones_have_slims_variables(
    name, num_clones, build_clones, variables_in, slim_variables, count_parameters
):
    # As slim's published checkpoints: with a background, but for those that came from Caffe.
    num_classes = 1000 if name.startswith(("resnet_v1", "vgg", "xception")) else 1001
    network = load_network(name)
    context = NetworkContext(num_classes=num_classes, is_training=True)
    images = [2, 224, 224, 3] if name.startswith("vgg") else [2, 64, 64, 3]
    graph, _ = build_clones(lambda: network(tf.zeros(images), context), num_clones)
    variables = variables_in(graph)
    if name in WITHOUT_TABLE:
        assert len(dict(variables)) == len(variables)
    else:
        assert variables == slim_variables(name)
    if name in PUBLISHED:
        trained = count_parameters(variables_in(graph, tf.GraphKeys.TRAINABLE_VARIABLES))
        last = next(shape[-2] for _, shape in reversed(variables) if len(shape) == 4)
        of_background = last + 1 if num_classes == 1001 else 0
        # Version 3 is published in tenths of a million, without rounding up.
        closeness = {"abs": 0.1} if name.startswith("mobilenet_v3") else {"rel": 0.015}
        found = (trained - of_background) / _MILLION
        assert found == pytest.approx(PUBLISHED[name], **closeness)


@pytest.mark.parametrize("num_classes", [None, 0])
@pytest.mark.parametrize(
    ("network", "features"), [(cifarnet, "fc4"), (lenet, "fc3"), (alexnet_v2, "alexnet_v2/fc7")]
)
def test_without_classes_the_features_come_back(network, features, num_classes):
    size = network.default_image_size
    with tf.Graph().as_default():
        net, end_points = network(tf.zeros([2, size, size, 3]), num_classes)
    assert net is end_points[features]
    assert list(end_points)[-1] == features


@pytest.mark.parametrize("name", MULTIPLIED)
def test_multipliers_are_those_of_the_names(name):
    network = load_network(name)
    module = importlib.import_module(f"tf_frame_vision.nets.{network.module}")
    multiplier = getattr(module, network.function).keywords["depth_multiplier"]
    assert multiplier == int(name.rpartition("_")[2]) / 100
