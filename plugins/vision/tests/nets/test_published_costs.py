"""Multiply-adds of one image of 224 pixels, and parameters, as they are published.

MobileNet v1 and v2: tensorflow/models, research/slim/nets/mobilenet_v1.md and
mobilenet/README.md. ResNet-50: parameters of torchvision's documentation of `ResNet50_Weights`.
Blocks of torchvision have their stride in the first unit, blocks of slim in the last unit. The
multiply-adds of slim's are counted by hand here.
"""

import pytest
import tensorflow.compat.v1 as tf

from tf_frame import layers
from tf_frame.profiling.model_cost import model_layers
from tf_frame_vision.nets import mobilenet_v1, mobilenet_v2, resnet_v1

M = 1e6


def cost(build, scope, **arguments):
    with tf.Graph().as_default() as graph, layers.arg_scope(scope()):
        build(tf.placeholder(tf.float32, [1, 224, 224, 3]), **arguments)
        return model_layers(graph, variables=tf.trainable_variables())[0]


def slim_resnet_50():
    """Multiply-adds of `resnet_v1_50` by hand."""
    total, channels = 112**2 * 64 * (7 * 7 * 3) + 2048 * 1000, 64
    plan = [(56, 64, 3, 28), (28, 128, 4, 14), (14, 256, 6, 7), (7, 512, 3, 7)]
    for size, depth, units, after in plan:
        total += size**2 * channels * (4 * depth)  # The shortcut of the first unit.
        for unit in range(units):
            outputs = (after if unit == units - 1 else size) ** 2
            total += size**2 * channels * depth + outputs * depth * (9 * depth + 4 * depth)
            channels = 4 * depth
    return total


@pytest.mark.slow
@pytest.mark.parametrize(
    ("build", "scope", "multiply_adds", "parameters"),
    [
        (mobilenet_v1.mobilenet_v1, mobilenet_v1.mobilenet_v1_arg_scope, 569 * M, 4.24 * M),
        (mobilenet_v2.mobilenet, mobilenet_v2.training_scope, 300 * M, 3.47 * M),
    ],
)
def test_published_costs(build, scope, multiply_adds, parameters):
    whole = cost(build, scope)
    assert whole.multiply_adds == pytest.approx(multiply_adds, rel=0.005)
    assert whole.parameters == pytest.approx(parameters, rel=0.02)


@pytest.mark.slow
def test_slims_resnet_50_has_the_published_parameters_and_strides_elsewhere():
    whole = cost(resnet_v1.resnet_v1_50, resnet_v1.resnet_arg_scope, num_classes=1000)
    assert whole.parameters == 25_557_032
    assert whole.multiply_adds == slim_resnet_50()
