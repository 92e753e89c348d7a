"""The residual network of 18 layers."""

import functools

import pytest
import tensorflow.compat.v1 as tf

from tf_frame import NetworkContext
from tf_frame_vision.slim_network import load_network

# Trained parameters with 1000 classes: torchvision's table of weights, resnet18,
# https://pytorch.org/vision/stable/models.html.
PUBLISHED = 11_689_512


def pyramid(network, images, context, **options):
    return network.pyramid_features(images, context, **options)


def built(build, **settings):
    with tf.Graph().as_default() as graph:
        context = NetworkContext(num_classes=1000, is_training=True, **settings)
        outputs = build(load_network("resnet_v1_18"), tf.zeros([2, 65, 96, 3]), context)
    return graph, outputs


@pytest.mark.slow
def test_parameters_and_layers_are_the_papers():
    graph, (logits, _) = built(lambda network, *arguments: network(*arguments))
    trained = graph.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES)
    assert sum(v.shape.num_elements() for v in trained) == PUBLISHED
    kernels = [v for v in trained if v.shape.rank == 4 and "shortcut" not in v.op.name]
    # 17 convolutions, and the logits.
    assert len(kernels) == 18 and logits.shape == [2, 1000]
    # No narrow kernel of one pixel has a stride.
    graph, maps = built(pyramid, depth_multiplier=0.1)
    shortcuts = [
        op
        for op in graph.get_operations()
        if op.type == "Conv2D" and op.inputs[1].shape[:2] == [1, 1]
    ]
    strides = {op.inputs[0].shape[-1]: op.get_attr("strides")[1] for op in shortcuts}
    assert strides == {8: 1, 12: 1, 25: 2}
    assert maps[32].shape[1:3] == [3, 3]


@pytest.mark.slow
def test_a_pyramid_ends_where_it_is_asked_to():
    graph, maps = built(functools.partial(pyramid, top_stride=16), depth_multiplier=0.25)
    sizes = {stride: tensor.shape.as_list() for stride, tensor in maps.items()}
    assert sizes == {
        2: [2, 33, 48, 16],
        4: [2, 17, 24, 16],
        8: [2, 9, 12, 32],
        16: [2, 5, 6, 64],
    }
    names = [v.op.name for v in graph.get_collection(tf.GraphKeys.GLOBAL_VARIABLES)]
    assert not any("block4" in name for name in names)
