"""DeepLab's residual networks with three convolutions for a root."""

import pytest
import tensorflow.compat.v1 as tf

from tf_frame import layers
from tf_frame_vision.nets import resnet_utils, resnet_v1, resnet_v1_beta

NUM_CLASSES = 1000
# Trained parameters of the plain networks: torchvision's table of weights,
# https://pytorch.org/vision/stable/models.html.
PLAIN_PARAMETERS = {50: 25_557_032, 101: 44_549_160}
# Weights and batch norm of the roots, 3x3 with 64, 64 and 128 channels for 7x7 with 64; and 64
# more inputs of the first unit, whose shortcut has 256 outputs and whose first convolution 64.
ROOT = 9 * (3 * 64 + 64 * 64 + 64 * 128) + 2 * (64 + 64 + 128)
PLAIN_ROOT = 49 * 3 * 64 + 2 * 64
WIDER_INPUTS = 64 * (256 + 64)


def images(size=None, batch=2):
    return tf.placeholder(tf.float32, [batch, size, size, 3])


def build(num_layers, inputs, *arguments, **settings):
    function = getattr(resnet_v1_beta, f"resnet_v1_{num_layers}_beta")
    with layers.arg_scope(resnet_v1_beta.resnet_arg_scope()):
        return function(inputs, *arguments, **settings)


@pytest.mark.slow
def test_variables_parameters_and_end_points_are_deeplabs(
    slim_variables, variables_in, count_parameters
):
    with tf.Graph().as_default() as graph:
        logits, end_points = build(50, images(65), NUM_CLASSES, is_training=True, global_pool=True)
    kinds = ("gamma", "beta", "moving_mean", "moving_variance")
    root = []
    for index, (inputs, outputs) in enumerate([(3, 64), (64, 64), (64, 128)], start=1):
        name = f"resnet_v1_50/conv1_{index}"
        root.append((f"{name}/weights", [3, 3, inputs, outputs]))
        root += [(f"{name}/BatchNorm/{kind}", [outputs]) for kind in kinds]
    plain = [
        v for v in slim_variables("resnet_v1_50") if not v[0].startswith("resnet_v1_50/conv1/")
    ]
    first_unit = "resnet_v1_50/block1/unit_1/bottleneck_v1"
    wider = {f"{first_unit}/{name}/weights" for name in ("shortcut", "conv1")}
    rest = [(n, [1, 1, 128, shape[3]] if n in wider else shape) for n, shape in plain]
    assert variables_in(graph) == [*root, *rest]
    trained = variables_in(graph, tf.GraphKeys.TRAINABLE_VARIABLES)
    expected = PLAIN_PARAMETERS[50] + ROOT - PLAIN_ROOT + WIDER_INPUTS
    assert count_parameters(trained) == expected == 25_680_808
    shapes = {
        **{f"resnet_v1_50/conv1_{index}": [2, 33, 33, 64] for index in (1, 2)},
        "resnet_v1_50/conv1_3": [2, 33, 33, 128],
        "resnet_v1_50/block1/unit_2/bottleneck_v1/conv3": [2, 17, 17, 256],
        "resnet_v1_50/block3": [2, 3, 3, 1024],
        "resnet_v1_50/block4": [2, 3, 3, 2048],
        "resnet_v1_50/logits": [2, 1, 1, NUM_CLASSES],
        "predictions": [2, 1, 1, NUM_CLASSES],
    }
    assert {name: end_points[name].shape.as_list() for name in shapes} == shapes
    assert logits is end_points["resnet_v1_50/logits"]


@pytest.mark.slow
@pytest.mark.process
def test_parameters_of_101_layers(variables_in, count_parameters):
    with tf.Graph().as_default() as graph:
        build(101, images(65), NUM_CLASSES, global_pool=True)
    expected = PLAIN_PARAMETERS[101] + ROOT - PLAIN_ROOT + WIDER_INPUTS
    trained = variables_in(graph, tf.GraphKeys.TRAINABLE_VARIABLES)
    assert count_parameters(trained) == expected
    assert {name.partition("/")[0] for name, _ in trained} == {"resnet_v1_101"}


@pytest.mark.slow
@pytest.mark.parametrize(
    "module", [pytest.param(resnet_v1, marks=pytest.mark.slow), resnet_v1_beta]
)
@pytest.mark.parametrize(
    ("output_stride", "multi_grid", "rates"), [(16, (1, 2, 4), (2, 4, 8)), (8, None, (4, 4, 4))]
)
def test_multi_grid_multiplies_the_rates_of_the_last_block(
    module, output_stride, multi_grid, rates, monkeypatch
):
    seen = []

    def convolve(inputs, outputs, kernel_size, stride, rate=1, scope=None):
        if "block4" in tf.get_variable_scope().name:
            seen.append((stride, rate))
        return layers.conv2d(inputs, outputs, kernel_size, stride=stride, scope=scope)

    monkeypatch.setattr(resnet_utils, "conv2d_same", convolve)
    function = module.resnet_v1_50 if module is resnet_v1 else module.resnet_v1_50_beta
    with tf.Graph().as_default():
        settings = {"depth_multiplier": 0.01, "min_base_depth": 1, "global_pool": False}
        function(images(65), output_stride=output_stride, multi_grid=multi_grid, **settings)
    assert seen == [(1, rate) for rate in rates]


def test_functions_and_multi_grids_are_deeplabs():
    match = r"multi_grid \(1, 2\) has 2 rates; the last block has 3 units"
    with tf.Graph().as_default(), pytest.raises(ValueError, match=match):
        build(50, images(65), multi_grid=(1, 2))
    for num_layers in PLAIN_PARAMETERS:
        function = getattr(resnet_v1_beta, f"resnet_v1_{num_layers}_beta")
        assert function.__name__ == f"resnet_v1_{num_layers}_beta"
        assert function.default_image_size == 224


@pytest.mark.slow
def test_a_training_step_of_a_narrow_network_is_finite():
    with tf.Graph().as_default(), tf.Session() as session:
        settings = {"depth_multiplier": 0.01, "min_base_depth": 1, "global_pool": True}
        image = tf.random.stateless_normal([4, 33, 33, 3], seed=[1, 2])
        logits, _ = build(50, image, 3, is_training=True, multi_grid=(1, 2, 4), **settings)
        tf.losses.sparse_softmax_cross_entropy([[[0]], [[1]], [[2]], [[0]]], logits)
        loss = tf.losses.get_total_loss()
        step = tf.train.GradientDescentOptimizer(0.01).minimize(loss)
        session.run(tf.global_variables_initializer())
        first, _ = session.run([loss, step])
        root = session.run(tf.global_variables("resnet_v1_50/conv1_1/weights")[0])
        session.run(step)
        assert (session.run(tf.global_variables("resnet_v1_50/conv1_1/weights")[0]) != root).any()
        assert 0 < session.run(loss) < 10 * first
