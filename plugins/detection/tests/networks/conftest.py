"""Networks of small images, and the variables of a published SSDLite."""

import dataclasses

import pytest
import tensorflow.compat.v1 as tf

from tf_frame_detection.model import Params
from tf_frame_detection.networks.detector import detector
from tf_frame_vision.slim_network import load_network

# Expansion, channels, blocks and stride: table 2 of https://arxiv.org/abs/1801.04381.
STAGES = [
    *((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1)),
    *((6, 160, 3, 2), (6, 320, 1, 1)),
]
# Channels of the extra layers and anchors of each map: `ssd_mobilenet_v2_feature_extractor.py` and
# ssdlite_mobilenet_v2_coco.config of tensorflow/models, research/object_detection.
EXTRA = [512, 256, 256, 128]
ANCHORS = [3, 6, 6, 6, 6, 6]


@pytest.fixture(scope="session")
def published_ssdlite():
    """Name -> shape of the variables of ssdlite_mobilenet_v2_coco_2018_05_09, with 90 classes."""
    table = {}

    def convolution(name, kernel, inputs, outputs):
        table[f"{name}/weights"] = [kernel, kernel, inputs, outputs]
        norm(name, outputs)

    def depthwise(name, inputs):
        table[f"{name}/depthwise_weights"] = [3, 3, inputs, 1]
        norm(name, inputs)

    def norm(name, channels):
        for part in ("gamma", "beta", "moving_mean", "moving_variance"):
            table[f"{name}/BatchNorm/{part}"] = [channels]

    scope = "FeatureExtractor/MobilenetV2"
    convolution(f"{scope}/Conv", 3, 3, 32)
    channels, number = 32, 0
    for expansion, outputs, blocks, _ in STAGES:
        for _ in range(blocks):
            block = f"{scope}/expanded_conv" + (f"_{number}" if number else "")
            if expansion > 1:
                convolution(f"{block}/expand", 1, channels, channels * expansion)
            depthwise(f"{block}/depthwise", channels * expansion)
            convolution(f"{block}/project", 1, channels * expansion, outputs)
            channels, number = outputs, number + 1
    convolution(f"{scope}/Conv_1", 1, channels, 1280)
    # The first map is the expansion of block 13, of 96 channels.
    maps = [6 * 96, 1280]
    for index, depth in enumerate(EXTRA, 2):
        convolution(f"{scope}/layer_19_1_Conv2d_{index}_1x1_{depth // 2}", 1, maps[-1], depth // 2)
        name = f"{scope}/layer_19_2_Conv2d_{index}_3x3_s2_{depth}"
        depthwise(f"{name}_depthwise", depth // 2)
        convolution(name, 1, depth // 2, depth)
        maps.append(depth)
    for index, (inputs, anchors) in enumerate(zip(maps, ANCHORS, strict=True)):
        for name, size in (("BoxEncodingPredictor", 4), ("ClassPredictor", 91)):
            name = f"BoxPredictor_{index}/{name}"
            depthwise(f"{name}_depthwise", inputs)
            table[f"{name}/weights"] = [1, 1, inputs, anchors * size]
            table[f"{name}/biases"] = [anchors * size]
    return table


def built(images, *, num_classes=90, code_size=4, is_training=True, **options):
    """The outputs of a network in the default graph."""
    params = dataclasses.replace(Params(), **options)
    return detector(
        images,
        params=params,
        backbone=load_network(params.backbone),
        num_classes=num_classes,
        code_size=code_size,
        is_training=is_training,
        batch_norm_decay=0.9,
    )


@pytest.fixture(scope="session")
def build():
    return built


@pytest.fixture(scope="session")
def ssdlite():
    """The graph of SSDLite on MobileNetV2, and its outputs."""
    with tf.Graph().as_default() as graph:
        raw = built(
            tf.zeros([1, 300, 300, 3]),
            name="ssd",
            backbone="mobilenet_v2",
            depth_multiplier=1.0,
            use_depthwise=True,
            is_training=False,
        )
    return graph, raw


@pytest.fixture(scope="session")
def shapes_in():
    """Name -> shape of the variables of a graph."""
    return lambda graph: {
        v.op.name: v.shape.as_list() for v in graph.get_collection(tf.GraphKeys.GLOBAL_VARIABLES)
    }
