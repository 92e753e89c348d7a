"""DeepLab's aligned Xception."""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from sessions import run_initialized
from tf_frame import layers
from tf_frame_vision.nets import resnet_utils, xception, xception_module
from tf_frame_vision.nets.xception_blocks import xception_blocks

# Millions of trained parameters with 1000 classes, of timm's networks, which take DeepLab's
# checkpoints: https://huggingface.co/timm/xception41.tf_in1k; for 65 layers the table in
# https://huggingface.co/deepghs/timms; for 71 https://paperswithcode.com/lib/timm/xception,
# rounded to a million.
PUBLISHED_PARAMETERS = {41: (27.0, 0.05), 65: (39.9, 0.05), 71: (42, 0.5)}
NUM_CLASSES = 1000
MODULE = "unit_1/xception_module"
# Scope, channels, shortcut, units and stride of the blocks of a small network.
SMALL = [
    ("entry_flow/block1", 1, "conv", 1, 2),
    ("entry_flow/block2", 2, "conv", 1, 2),
    ("entry_flow/block3", 4, "conv", 1, 1),
    ("entry_flow/block4", 4, "conv", 1, 2),
    ("middle_flow/block1", 4, "sum", 2, 1),
    ("exit_flow/block1", 8, "conv", 1, 2),
    ("exit_flow/block2", 16, "none", 1, 1),
]


def images(size=None, batch=2):
    return tf.placeholder(tf.float32, [batch, size, size, 3])


def small(inputs, num_classes=None, multi_grid=None, regularize_depthwise=False, **arguments):
    blocks = [
        xception.xception_block(
            scope,
            [depth] * 3,
            connection,
            scope == "exit_flow/block2",
            regularize_depthwise,
            num_units=units,
            stride=stride,
            unit_rate_list=multi_grid if scope == "exit_flow/block2" else None,
        )
        for scope, depth, connection, units, stride in SMALL
    ]
    scope = arguments.pop("arg_scope", {"batch_norm_decay": 0.9})
    with layers.arg_scope(
        xception.xception_arg_scope(regularize_depthwise=regularize_depthwise, **scope)
    ):
        return xception.xception(inputs, blocks, num_classes, **{"scope": "small", **arguments})


@pytest.fixture(scope="module")
def network():
    with tf.Graph().as_default() as graph, layers.arg_scope(xception.xception_arg_scope()):
        logits, end_points = xception.xception_41(images(299), NUM_CLASSES)
    return graph, logits, end_points


def batch_norm(name, channels):
    kinds = ("gamma", "beta", "moving_mean", "moving_variance")
    return {f"{name}/BatchNorm/{kind}": [channels] for kind in kinds}


def convolution(name, kernel, inputs, outputs):
    return {f"{name}/weights": [kernel, kernel, inputs, outputs], **batch_norm(name, outputs)}


def expected_variables(network, blocks):
    """Names and shapes by the rule of DeepLab's checkpoints, in the order of their making."""
    expected = {
        **convolution(f"{network}/entry_flow/conv1_1", 3, 3, 32),
        **convolution(f"{network}/entry_flow/conv1_2", 3, 32, 64),
    }
    inputs = 64
    for scope, depths, connection, units in blocks:
        for unit in range(1, units + 1):
            module = f"{network}/{scope}/unit_{unit}/xception_module"
            channels = inputs
            for index, depth in enumerate(depths, start=1):
                name = f"{module}/separable_conv{index}"
                expected[f"{name}_depthwise/depthwise_weights"] = [3, 3, channels, 1]
                expected |= batch_norm(f"{name}_depthwise", channels)
                expected |= convolution(f"{name}_pointwise", 1, channels, depth)
                channels = depth
            if connection == "conv":
                expected |= convolution(f"{module}/shortcut", 1, inputs, channels)
            inputs = channels
    logits = {
        f"{network}/logits/weights": [1, 1, 2048, NUM_CLASSES],
        f"{network}/logits/biases": [NUM_CLASSES],
    }
    return list({**expected, **logits}.items())


def described(num_layers):
    """Scope, channels, shortcut and number of units of each block of a published network."""
    return [
        (block.scope, unit["depth_list"], unit["skip_connection_type"], len(block.args))
        for block in xception_blocks(num_layers)
        for unit in block.args[:1]
    ]


@pytest.mark.slow
def test_variables_end_points_penalties_and_dropout_are_deeplabs(network, variables_in):
    assert variables_in(network[0]) == expected_variables("xception_41", described(41))
    # End points.
    _, logits, end_points = network
    shapes = {
        "xception_41/entry_flow/conv1_1": [2, 150, 150, 32],
        f"xception_41/entry_flow/block2/{MODULE}/separable_conv2_pointwise": [2, 75, 75, 256],
        "xception_41/entry_flow/block3": [2, 19, 19, 728],
        "xception_41/middle_flow/block1/unit_8/xception_module": [2, 19, 19, 728],
        f"xception_41/exit_flow/block1/{MODULE}/shortcut": [2, 10, 10, 1024],
        "xception_41/exit_flow/block2": [2, 10, 10, 2048],
        "global_pool": [2, 1, 1, 2048],
        "xception_41/logits": [2, 1, 1, NUM_CLASSES],
        "predictions": [2, 1, 1, NUM_CLASSES],
    }
    assert {name: end_points[name].shape.as_list() for name in shapes} == shapes
    assert logits is end_points["xception_41/logits"]
    # Depthwise weights pay none; the features before the logits are dropped.
    graph, *_ = network
    # conv1_1, conv1_2, 3 pointwise for each of 13 modules, 4 shortcuts, logits.
    assert len(graph.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)) == 2 + 3 * 13 + 4 + 1
    norms = [v for v in graph.get_collection("variables") if "moving_mean" in v.op.name]
    assert len(graph.get_collection(tf.GraphKeys.UPDATE_OPS)) == 2 * len(norms)
    assert [op for op in graph.get_operations() if "prelogits_dropout" in op.name]


@pytest.mark.parametrize("num_layers", PUBLISHED_PARAMETERS)
def test_parameters_and_names_are_the_published_ones(num_layers, count_parameters):
    variables = expected_variables(f"xception_{num_layers}", described(num_layers))
    trained = count_parameters(v for v in variables if "moving_" not in v[0])
    published, tolerance = PUBLISHED_PARAMETERS[num_layers]
    assert trained / 1e6 == pytest.approx(published, abs=tolerance)
    # Two convolutions and the separable ones; shortcuts and logits do not count.
    assert 2 + 3 * sum(units for *_, units in described(num_layers)) == num_layers


def test_functions_strides_and_shortcuts_are_deeplabs():
    strides = {
        block.scope: [unit["stride"] for unit in block.args] for block in xception_blocks(71)
    }
    assert strides == {
        **{f"entry_flow/block{n}": [s] for n, s in enumerate((2, 1, 2, 1, 2), start=1)},
        "middle_flow/block1": [1] * 16,
        "exit_flow/block1": [2],
        "exit_flow/block2": [1],
    }
    for num_layers in PUBLISHED_PARAMETERS:
        function = getattr(xception, f"xception_{num_layers}")
        assert function.__name__ == f"xception_{num_layers}"
        assert function.default_image_size == xception.xception.default_image_size == 299
    with tf.Graph().as_default(), pytest.raises(ValueError, match="skip_connection_type 'max'"):
        xception_module.xception_module(tf.zeros([1, 4, 4, 2]), [2, 2, 2], "max", stride=1)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("output_stride", "sides"),
    [
        pytest.param(None, [81, 41, 41, 21, 21, 11, 11], marks=pytest.mark.slow),
        (8, [81, 41, 41, 41, 41, 41, 41]),
    ],
)
def test_shapes_of_pixel_features(output_stride, sides):
    """Sides as in DeepLab's own test, xception_test.py, for images of 321 pixels."""
    with tf.Graph().as_default():
        _, end_points = small(images(321), global_pool=False, output_stride=output_stride)
    found = [end_points[f"small/{scope}"].shape.as_list() for scope, *_ in SMALL]
    assert found == [[2, side, side, block[1]] for side, block in zip(sides, SMALL, strict=True)]


@pytest.mark.slow
def test_dilated_features_are_the_strided_ones_and_those_between():
    with tf.Graph().as_default(), tf.Session() as session:
        image = images()
        arguments = {"is_training": False, "global_pool": False, "reuse": tf.AUTO_REUSE}
        arguments["arg_scope"] = {"weights_initializer_stddev": 1.0}
        features = [small(image, output_stride=s, **arguments)[0] for s in (None, 16, 8, 4)]
        session.run(tf.global_variables_initializer())
        values = np.random.RandomState(0).randn(2, 96, 97, 3)
        expected, *dilated = session.run(features, {image: values})
    assert expected.shape == (2, 3, 4, 16)
    assert np.abs(expected).max() > 1e-3
    for found, factor in zip(dilated, (2, 4, 8), strict=True):
        subsampled = found[:, ::factor, ::factor]
        np.testing.assert_allclose(subsampled, expected, rtol=1e-3, atol=1e-4 * expected.max())


def depthwise_rates(graph, scope):
    """Dilations of the depthwise convolutions of a module."""
    sizes = [
        tf.get_static_value(op.inputs[1])
        for op in graph.get_operations()
        if op.type == "SpaceToBatchND" and scope in op.name
    ]
    return [tuple(size) for size in sizes]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("output_stride", "multi_grid", "rates"),
    [
        (16, (2, 4, 8), (4, 8, 16)),
        pytest.param(8, None, (4, 4, 4), marks=pytest.mark.slow),
    ],
)
def test_multi_grid_multiplies_the_rates_of_the_last_block(output_stride, multi_grid, rates):
    with tf.Graph().as_default() as graph:
        small(images(65), global_pool=False, output_stride=output_stride, multi_grid=multi_grid)
    assert depthwise_rates(graph, "exit_flow/block2") == [(rate, rate) for rate in rates]


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"output_stride": 7}, "needs to be a multiple of 2. It is 7"),
        pytest.param(
            {"output_stride": 6}, "output_stride cannot be reached", marks=pytest.mark.slow
        ),
        pytest.param(
            {"multi_grid": (1, 2)},
            r"multi_grid\) needs three elements; it is \(1, 2\)",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_settings_that_cannot_be_are_refused(arguments, match):
    with tf.Graph().as_default(), pytest.raises(ValueError, match=match):
        small(images(33), **arguments)


@pytest.mark.parametrize("size", [4, 5])
@pytest.mark.parametrize("whole", [False, True])
def test_a_strided_separable_convolution_is_one_that_is_subsampled(size, whole):
    arguments = {"regularize_depthwise": whole, "depth_multiplier": 1, "scope": "conv"}
    with tf.Graph().as_default():
        image = tf.random.stateless_normal([1, size, size, 2], seed=[1, 2])
        with tf.variable_scope("", reuse=tf.AUTO_REUSE):
            dense, strided = (
                xception.separable_conv2d_same(image, 3, 3, stride=stride, **arguments)
                for stride in (1, 2)
            )
        subsampled = resnet_utils.subsample(dense, 2)
        names = {v.op.name for v in tf.global_variables()}
        np.testing.assert_allclose(*run_initialized([strided, subsampled]), rtol=1e-5, atol=1e-6)
    split = {"conv_depthwise/depthwise_weights", "conv_pointwise/weights"}
    joint = {"conv/depthwise_weights", "conv/pointwise_weights"}
    assert {name for name in names if "weights" in name} == (joint if whole else split)


@pytest.mark.slow
def test_a_penalty_on_depthwise_weights_makes_one_layer_of_two():
    """End points as in DeepLab's own test, xception_test.py."""
    with tf.Graph().as_default():
        _, end_points = small(images(33), 10, regularize_depthwise=True)
        parts = ("/separable_conv1", "/separable_conv2", "/separable_conv3", "/shortcut", "")
        expected = {
            *("small/entry_flow/conv1_1", "small/entry_flow/conv1_2"),
            *("global_pool", "small/logits", "predictions"),
        }
        for scope, _, connection, units, _ in SMALL:
            module = [f"small/{scope}/unit_{n + 1}/xception_module" for n in range(units)]
            kept = [part for part in parts if connection == "conv" or part != "/shortcut"]
            expected |= {f"small/{scope}", *(name + part for name in module for part in kept)}
        assert set(end_points) == expected
        # Two for each of 3 convolutions of 8 modules; conv1_1, conv1_2, 5 shortcuts, logits.
        assert len(tf.losses.get_regularization_losses()) == 2 * 3 * 8 + 2 + 5 + 1


@pytest.mark.slow
def test_bounded_activations_stay_within_six():
    with tf.Graph().as_default():
        image = 100.0 * tf.random.stateless_normal([1, 8, 8, 3], seed=[1, 2])
        arguments = {"is_training": False, "global_pool": False, "reuse": tf.AUTO_REUSE}
        outputs = []
        for bounded in (True, False):
            settings = {"use_bounded_activation": bounded, "weights_initializer_stddev": 3.0}
            _, end_points = small(image, arg_scope=settings, **arguments)
            outputs.append([end_points[f"small/{scope}"] for scope, *_ in SMALL])
        bounded, free = run_initialized(outputs)
    assert max(each.max() for each in bounded) <= 6.0
    assert min(each.min() for each in bounded) >= 0.0
    assert max(each.max() for each in free) > 6.0


@pytest.mark.slow
def test_a_training_step_changes_all_weights():
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(0)  # Of some initial values a layer has no output above 0.
        values = np.random.RandomState(0).uniform(-1, 1, [4, 33, 33, 3]).astype(np.float32)
        logits, _ = small(tf.constant(values), 3, keep_prob=1.0)
        tf.losses.sparse_softmax_cross_entropy([[[0]], [[1]], [[2]], [[0]]], logits)
        step = tf.train.GradientDescentOptimizer(0.1).minimize(tf.losses.get_total_loss())
        session.run(tf.global_variables_initializer())
        before = session.run(tf.trainable_variables())
        session.run([step, *tf.get_collection(tf.GraphKeys.UPDATE_OPS)])
        after = session.run(tf.trainable_variables())
    changes = [np.abs(new - old).max() for old, new in zip(before, after, strict=True)]
    assert np.isfinite(changes).all()
    assert min(changes) > 0
