"""Networks as backbones: feature maps by stride, with the classifier's variables."""

import re
from pathlib import Path

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from sessions import initialized_session
from tf_frame import Network, NetworkContext
from tf_frame.errors import ConfigError
from tf_frame.plugin.find import find_plugins
from tf_frame.plugin.kinds import NETWORK
from tf_frame_vision.slim_network import load_network

TABLES = Path(__file__).parent / "variables"
SLOW = [pytest.mark.slow, pytest.mark.process]
OWN = {f.name for f in find_plugins() if (f.kind, f.distribution) == (NETWORK, "tf-frame-vision")}
NO_BACKBONES = {"alexnet_v2", "cifarnet", "lenet", "vgg_16", "vgg_19", "vgg_a"}
NOT_DILATED = {"inception_v1", "inception_v2", "inception_v3", "inception_v4"}
DILATED = OWN - NO_BACKBONES - NOT_DILATED
# A few by default; `tox -e slow` takes the others. `test_decoder_maps` has mobilenet_v3, the tests
# of deeplab have mobilenet_v2 and a ResNet.
BY_DEFAULT = {"mobilenet_v1_025", "inception_v1"}
# Squeeze and excite weighs channels by their means over the map.
EXCITED = {f"mobilenet_v3_{size}{kind}" for size in ("small", "large") for kind in ("", "_seg")}
# Channels of the last feature map of each stride, from 2 to 32.
CHANNELS = {
    "resnet_v1_18": [64, 64, 128, 256, 512],
    "resnet_v1_50": [64, 256, 512, 1024, 2048],
    "resnet_v1_50_beta": [128, 256, 512, 1024, 2048],
    "resnet_v2_50": [64, 256, 512, 1024, 2048],
    "xception_41": [64, 128, 256, 728, 2048],
    "xception_65": [64, 128, 256, 728, 2048],
    "xception_71": [64, 256, 728, 728, 2048],
    "mobilenet_v1_025": [16, 32, 64, 128, 256],
    "mobilenet_v2_035": [8, 8, 16, 32, 112],
    "mobilenet_v2": [16, 24, 32, 96, 320],
    "mobilenet_v3_small": [16, 16, 24, 48, 96],
    "mobilenet_v3_large": [16, 24, 40, 112, 160],
    "mobilenet_v3_small_seg": [16, 16, 24, 48, 288],
    "mobilenet_v3_large_seg": [16, 24, 40, 112, 480],
    "inception_v1": [64, 192, 480, 832, 1024],
    "inception_v2": [64, 192, 320, 576, 1024],
    "inception_v3": [64, 192, 288, 768, 2048],
    "inception_v4": [64, 192, 384, 1024, 1536],
    "inception_resnet_v2": [64, 192, 320, 1088, 1536],
}
STRIDES = (2, 4, 8, 16, 32)
# Parts of the classifier that a backbone does without.
HEADS = re.compile(r"/(Logits|AuxLogits|logits)/|^MobilenetV./Conv_[12]/")
# For segmentation the layer before the pooling belongs to the backbone.
SEG_HEADS = re.compile(r"/Logits/|^MobilenetV3/Conv_2/")


def context(**settings):
    return NetworkContext(**{"num_classes": None, "is_training": False, **settings})


def smallest_side(name):
    """Height and width of the images, of which an Inception network needs 75 at least."""
    return 97 if name.startswith("inception") else 65


@pytest.fixture(scope="module")
def built(request):
    """A network with each of its output strides: its name, its graph and their feature maps."""
    name, maps = request.param, {}
    side = smallest_side(name)
    images = np.random.RandomState(0).uniform(-1, 1, [1, side, side, 3]).astype(np.float32)
    with tf.Graph().as_default() as graph:
        for stride in (8, 16, 32) if name in DILATED else (32,):
            with tf.variable_scope("", reuse=tf.AUTO_REUSE):
                maps[stride], _ = load_network(name).features(
                    tf.constant(images), context(), output_stride=stride
                )
    return name, graph, maps


def each(names):
    """Tests each network; those that are not tested by default, with `tox -e slow`."""
    marked = [(name, () if name in BY_DEFAULT else SLOW) for name in sorted(names)]
    params = [pytest.param(name, marks=marks) for name, marks in marked]
    return pytest.mark.parametrize("built", params, indirect=True)


@each(DILATED)
def test_feature_maps_have_the_sizes_of_their_strides_and_are_the_last_ones(built):
    name, _, maps_of = built
    for output_stride, maps in maps_of.items():
        expected = [stride for stride in STRIDES if stride <= output_stride]
        assert list(maps) == expected
        for stride, tensor in maps.items():
            size = -(-smallest_side(name) // stride)
            assert tensor.shape.as_list()[:3] == [1, size, size]
        if name not in CHANNELS:
            continue
        channels = [tensor.shape[3] for tensor in maps.values()]
        # A dilated map stands for that of a larger stride.
        deepest = 3 if name == "inception_resnet_v2" and output_stride < 32 else 4
        expected = [*CHANNELS[name][: len(maps) - 1], CHANNELS[name][deepest]]
        assert channels == expected


@pytest.mark.slow
@each(NOT_DILATED)
def test_inception_has_its_own_strides_only(built):
    name, _, maps_of = built
    assert list(maps_of[32]) == list(STRIDES)
    assert [tensor.shape[3] for tensor in maps_of[32].values()] == CHANNELS[name]
    # Version 3 and 4 do not pad all of their layers.
    missing = [
        -(-smallest_side(name) // stride) - tensor.shape[1]
        for stride, tensor in maps_of[32].items()
    ]
    assert all(0 <= pixels <= 5 for pixels in missing)
    with pytest.raises(ConfigError, match=f"{name} has no .* output stride of 16; .* be 32$"):
        load_network(name).features(None, context(), output_stride=16)


@pytest.mark.slow
@each(DILATED | NOT_DILATED)
def test_variables_are_those_of_the_classifier(built, slim_variables, variables_in):
    name, graph, _ = built
    if (TABLES / f"{name}.txt.gz").exists():
        classifier = slim_variables(name)
    else:
        with tf.Graph().as_default() as classifier_graph:
            load_network(name)(tf.zeros([1, 64, 64, 3]), context(num_classes=5))
        classifier = variables_in(classifier_graph)
    heads = SEG_HEADS if name.endswith("_seg") else HEADS
    assert variables_in(graph) == [v for v in classifier if not heads.search(v[0])]


@each(DILATED - EXCITED)
def test_dilated_feature_maps_are_the_strided_ones_and_those_between(built):
    name, graph, maps = built
    with graph.as_default(), tf.Session() as session:
        load_large_weights(session)
        last = session.run({stride: of_stride[stride] for stride, of_stride in maps.items()})
    if name == "inception_resnet_v2":
        del last[32]  # Its map of stride 32 is of a layer that the others do without.
    coarsest = last.pop(max(last))
    scale = np.abs(coarsest).max()
    assert scale > 1e-3
    for stride, found in last.items():
        step = 16 // stride if name == "inception_resnet_v2" else 32 // stride
        finer = found[:, ::step, ::step]
        np.testing.assert_allclose(finer, coarsest, rtol=1e-3, atol=1e-4 * scale)


def load_large_weights(session):
    """Weights that keep the size of values from layer to layer."""
    session.run(tf.global_variables_initializer())
    random = np.random.RandomState(1)
    for variable in tf.trainable_variables():
        shape = variable.shape.as_list()
        if len(shape) == 4:
            inputs = 9 if "depthwise" in variable.op.name else np.prod(shape[:3])
            variable.load(random.normal(size=shape, scale=(2 / inputs) ** 0.5), session)


@pytest.mark.parametrize("name", sorted(NO_BACKBONES))
def test_networks_without_feature_maps_say_so(name):
    network = load_network(name)
    with pytest.raises(ConfigError, match=f"{type(network).__name__} has no feature maps by"):
        network.features(tf.zeros([1, 224, 224, 3]), context(), output_stride=32)


def test_networks_of_other_packages_have_maps_if_they_say_how():
    with pytest.raises(ConfigError, match="Network has no feature maps by stride"):
        Network(params=None).features(None, context())

    class Own(Network):
        def features(self, images, context, *, output_stride=32):
            return {stride: stride for stride in (4, 8, output_stride)}, {}

    assert Own(params=None).pyramid_features(None, context(), top_stride=16) == {4: 4, 8: 8}


@pytest.mark.parametrize("stride", [4, 12, 64])
def test_other_strides_are_refused(stride):
    match = f"resnet_v1_50 has no feature maps with .* of {stride}; its .* can be 8 or 16 or 32"
    with pytest.raises(ConfigError, match=match):
        load_network("resnet_v1_50").features(None, context(), output_stride=stride)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "mobilenet_v1_025",
        *(pytest.param(name, marks=SLOW) for name in ("mobilenet_v2_035", "inception_v2")),
    ],
)
def test_settings_reach_the_layers(name):
    with tf.Graph().as_default():
        settings = {"is_training": True, "weight_decay": 0.5, "depth_multiplier": 0.1}
        load_network(name).features(
            tf.zeros([1, 64, 64, 3]), context(batch_norm_decay=0.25, **settings)
        )
        updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
        norms = len([v for v in tf.global_variables() if v.op.name.endswith("moving_mean")])
        assert len(updates) == 2 * norms
        assert tf.losses.get_regularization_losses()
        widths = [v.shape[-1] for v in tf.trainable_variables() if len(v.shape) == 4]
        assert max(widths) <= 256
        mean = next(v for v in tf.global_variables() if v.op.name.endswith("moving_variance"))
        with initialized_session() as session:
            session.run(updates)
            # Images and features are 0; so are their variances.
            np.testing.assert_allclose(session.run(mean), 0.25, rtol=1e-5)


@pytest.mark.slow
def test_a_backbone_within_another_scope_is_found():
    with tf.Graph().as_default(), tf.variable_scope("detector"):
        maps, end_points = load_network("resnet_v1_50").features(
            tf.zeros([1, 64, 64, 3]), context(), output_stride=8
        )
        assert maps[2] is end_points["detector/resnet_v1_50/conv1"]
        assert maps[4].op.name == "detector/resnet_v1_50/block1/unit_2/bottleneck_v1/Relu"
        assert all(v.op.name.startswith("detector/resnet_v1_50/") for v in tf.global_variables())


PYRAMIDS = {
    # Outputs of the blocks, as the object detection API's, not of their last unit but one.
    "resnet_v1_50": ("block2/unit_4/bottleneck_v1/Relu", "block3/unit_6/bottleneck_v1/Relu"),
    "mobilenet_v1_025": ("Conv2d_5_pointwise/Relu6", "Conv2d_11_pointwise/Relu6"),
    "mobilenet_v2_035": ("expanded_conv_5/output", "expanded_conv_12/output"),
    "inception_v1": ("Mixed_3c/concat", "Mixed_4f/concat"),
}


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=() if n == "mobilenet_v1_025" else SLOW) for n in PYRAMIDS]
)
def test_a_feature_pyramid_takes_the_apis_maps(name):
    with tf.Graph().as_default() as graph, tf.variable_scope("FeatureExtractor"):
        images = tf.zeros([1, 96, 96, 3])
        maps = load_network(name).pyramid_features(images, context(), top_stride=16, min_depth=16)
    assert list(maps) == [2, 4, 8, 16]
    for stride, end in zip((8, 16), PYRAMIDS[name], strict=True):
        assert maps[stride].op.name.endswith(end)
        assert maps[stride].shape[1] == 96 // stride
    if name == "resnet_v1_50":
        # Inside of units as in its configurations; a unit's sum has no limit.
        inner = [op for op in graph.get_operations() if "/conv2/Relu" in op.name]
        assert inner and all(op.type == "Relu6" for op in inner)
