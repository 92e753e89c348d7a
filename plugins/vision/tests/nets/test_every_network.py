"""Variables of the networks whose own tests build them but once, or in part."""

import pytest
import tensorflow.compat.v1 as tf

from tf_frame import NetworkContext
from tf_frame_vision.slim_network import load_network

_MILLION = 1e6
# Parameters that are trained, in millions with 1000 classes. Mobilenets: the READMEs of
# tensorflow/models, research/slim/nets (mobilenet_v1.md, mobilenet/README.md); resnet_v1:
# torchvision's documentation of resnet50, resnet101 and resnet152, whose architecture is the same.
PUBLISHED = {
    "resnet_v1_50": 25.6,
    "resnet_v1_101": 44.5,
    "resnet_v1_152": 60.2,
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
}
# slim's source has no version 3 that could be built here; Keras's stands for it in its own test.
WITHOUT_TABLE = [name for name in PUBLISHED if name.startswith("mobilenet_v3")]
NAMES = [
    *(f"resnet_v{v}_{layers}" for v in (1, 2) for layers in (50, 101, 152, 200)),
    *("vgg_16", "vgg_19"),
    *(name for name in PUBLISHED if name.startswith("mobilenet")),
]
# Two clones of the other families' smallest networks, and one of these, are in their own tests.
TWO_CLONES_BY_DEFAULT = ("resnet_v1_50",)
NETS = [pytest.mark.nets, pytest.mark.process]


def cases():
    found = []
    for name in NAMES:
        always = name in TWO_CLONES_BY_DEFAULT
        found.append(pytest.param(name, 2, marks=pytest.mark.process if always else NETS))
        if name.startswith("mobilenet"):
            found.append((name, 1))
    return found


@pytest.mark.parametrize(("name", "num_clones"), cases())
def test_clones_have_slims_variables(
    name, num_clones, build_clones, variables_in, slim_variables, count_parameters
):
    # As slim's published checkpoints: with a background, but for those that came from Caffe.
    num_classes = 1000 if name.startswith(("resnet_v1", "vgg")) else 1001
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
        closeness = {"abs": 0.1} if name in WITHOUT_TABLE else {"rel": 0.015}
        found = (trained - of_background) / _MILLION
        assert found == pytest.approx(PUBLISHED[name], **closeness)
