"""ResNet, version 1."""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame import layers
from tf_frame_vision.nets import resnet_v1

# In the table of weights of torchvision, https://pytorch.org/vision/stable/models.html;
# for 200 layers the 64.67 million of timm's resnet200. They leave moving values out.
PUBLISHED_PARAMETERS = {50: 25_557_032, 101: 44_549_160, 152: 60_192_808, 200: 64_673_832}
SMALL = [
    resnet_v1.resnet_v1_block(f"block{index}", base_depth=depth, num_units=units, stride=stride)
    for index, depth, units, stride in [(1, 1, 2, 2), (2, 2, 1, 2), (3, 4, 1, 2), (4, 8, 1, 1)]
]


def small(images, num_classes=None, **arguments):
    with layers.arg_scope(resnet_v1.resnet_arg_scope()):
        return resnet_v1.resnet_v1(images, SMALL, num_classes, scope="small", **arguments)


def images(size=None, batch=2):
    return tf.placeholder(tf.float32, [batch, size, size, 3])


def build(num_layers, num_classes=1000, **arguments):
    with layers.arg_scope(resnet_v1.resnet_arg_scope()):
        function = getattr(resnet_v1, f"resnet_v1_{num_layers}")
        return function(images(224), num_classes, **arguments)


@pytest.fixture(scope="module")
def network():
    with tf.Graph().as_default() as graph:
        logits, end_points = build(50)
    return graph, logits, end_points


@pytest.fixture
def blocks_of(monkeypatch):
    """Returns the blocks that a function hands to `resnet_v1`."""

    def blocks(num_layers, **arguments):
        seen = []
        monkeypatch.setattr(resnet_v1, "resnet_v1", lambda _, blocks, *a, **k: seen.extend(blocks))
        getattr(resnet_v1, f"resnet_v1_{num_layers}")(None, **arguments)
        return seen

    return blocks


def test_variables_are_slims(network, slim_variables, variables_in, count_parameters):
    graph, *_ = network
    assert variables_in(graph) == slim_variables("resnet_v1_50")
    trained = variables_in(graph, tf.GraphKeys.TRAINABLE_VARIABLES)
    assert count_parameters(trained) == PUBLISHED_PARAMETERS[50]


@pytest.mark.parametrize("num_layers", [50, 101, 152, 200])
def test_units_of_each_block_are_slims(num_layers, blocks_of, slim_variables, count_parameters):
    """What one unit is made of is the same for all; see the variables of 50 layers."""
    table = dict(slim_variables(f"resnet_v1_{num_layers}"))
    conv3 = {
        f"resnet_v1_{num_layers}/{block.scope}/unit_{index}/bottleneck_v1/conv3/weights": [
            1,
            1,
            unit["depth_bottleneck"],
            unit["depth"],
        ]
        for block in blocks_of(num_layers)
        for index, unit in enumerate(block.args, start=1)
    }
    assert conv3 == {name: shape for name, shape in table.items() if "conv3/weights" in name}
    assert len(conv3) == (num_layers - 2) // 3
    trained = [each for each in table.items() if "moving_" not in each[0]]
    assert count_parameters(trained) == PUBLISHED_PARAMETERS[num_layers]


def test_last_units_but_those_of_the_last_block_have_a_stride(blocks_of):
    strides = [[unit["stride"] for unit in block.args] for block in blocks_of(50)]
    assert strides == [[1, 1, 2], [1, 1, 1, 2], [1, 1, 1, 1, 1, 2], [1, 1, 1]]


def test_channels_may_be_multiplied_down_to_a_least_number(blocks_of):
    def depths(**arguments):
        return [block.args[0]["depth_bottleneck"] for block in blocks_of(50, **arguments)]

    assert depths(depth_multiplier=0.25) == [16, 32, 64, 128]
    assert depths(depth_multiplier=0.05) == [8, 8, 12, 25]
    assert depths(depth_multiplier=0, min_base_depth=5) == [5, 5, 5, 5]


def test_functions_have_slims_names():
    for num_layers in PUBLISHED_PARAMETERS:
        function = getattr(resnet_v1, f"resnet_v1_{num_layers}")
        assert function.__name__ == f"resnet_v1_{num_layers}"
        assert function.default_image_size == resnet_v1.resnet_v1.default_image_size == 224


def test_end_points(network):
    _, logits, end_points = network
    scope = "resnet_v1_50"
    expected = {f"{scope}/conv1"}
    for block, units in enumerate((3, 4, 6, 3), start=1):
        for unit in range(1, units + 1):
            name = f"{scope}/block{block}/unit_{unit}/bottleneck_v1"
            expected |= {name, *(f"{name}/conv{index}" for index in (1, 2, 3))}
        expected |= {f"{scope}/block{block}/unit_1/bottleneck_v1/shortcut"}
    shapes = {
        f"{scope}/block1": [2, 28, 28, 256],
        f"{scope}/block2": [2, 14, 14, 512],
        f"{scope}/block3": [2, 7, 7, 1024],
        f"{scope}/block4": [2, 7, 7, 2048],
        "global_pool": [2, 1, 1, 2048],
        f"{scope}/logits": [2, 1, 1, 1000],
        f"{scope}/spatial_squeeze": [2, 1000],
        "predictions": [2, 1000],
    }
    assert set(end_points) == expected | set(shapes)
    assert {name: end_points[name].shape.as_list() for name in shapes} == shapes
    assert logits is end_points[f"{scope}/spatial_squeeze"]
    assert end_points[f"{scope}/block1"] is end_points[f"{scope}/block1/unit_3/bottleneck_v1"]


def test_penalties_and_updates(network):
    """One penalty for each convolution, two updates for each batch norm."""
    graph, *_ = network
    assert len(graph.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)) == 1 + 3 * 16 + 4 + 1
    assert len(graph.get_collection(tf.GraphKeys.UPDATE_OPS)) == 2 * (1 + 3 * 16 + 4)


def test_dilated_features_are_the_strided_ones_and_those_between():
    """With images whose size the graph does not know."""
    factors = {16: 2, 4: 8}
    with tf.Graph().as_default(), tf.Session() as session:
        image = images()
        features = [
            small(image, is_training=False, global_pool=False, output_stride=stride, reuse=reuse)[0]
            for stride, reuse in [(None, None), *((stride, True) for stride in factors)]
        ]
        assert features[0].shape.as_list() == [2, None, None, 32]
        session.run(tf.global_variables_initializer())
        values = np.random.RandomState(0).randn(2, 65, 65, 3)
        expected, *dilated = session.run(features, {image: values})
    assert expected.shape == (2, 3, 3, 32)
    assert [each.shape[1] for each in dilated] == [5, 17]
    for found, factor in zip(dilated, factors.values(), strict=True):
        np.testing.assert_allclose(found[:, ::factor, ::factor], expected, rtol=1e-4, atol=1e-5)


def test_shapes_without_pooling_and_without_the_root():
    with tf.Graph().as_default():
        logits, end_points = small(images(65), 5, global_pool=False, spatial_squeeze=False)
        assert logits.shape.as_list() == [2, 3, 3, 5]
        assert "global_pool" not in end_points
        assert "small/spatial_squeeze" not in end_points
    with tf.Graph().as_default():
        net, end_points = small(images(32), include_root_block=False)
    assert net is end_points["global_pool"]
    shapes = [end_points[f"small/block{index}"].shape.as_list() for index in (1, 2, 3, 4)]
    assert shapes == [[2, 16, 16, 4], [2, 8, 8, 8], [2, 4, 4, 16], [2, 4, 4, 32]]


def test_without_classes_the_features_come_back():
    with tf.Graph().as_default():
        for num_classes in (None, 0):
            net, end_points = small(images(32), num_classes, reuse=tf.AUTO_REUSE)
            assert net is end_points["global_pool"]
            assert net.shape.as_list() == [2, 1, 1, 32]
            assert "predictions" not in end_points


def test_an_outer_scope_may_say_whether_batch_norm_trains():
    with (
        tf.Graph().as_default() as graph,
        layers.arg_scope(resnet_v1.resnet_arg_scope()),
        layers.arg_scope([layers.batch_norm], is_training=False),
    ):
        resnet_v1.resnet_v1(images(32), SMALL[:1], is_training=None)
        assert not graph.get_collection(tf.GraphKeys.UPDATE_OPS)
        resnet_v1.resnet_v1(images(32), SMALL[:1], is_training=True)
        assert graph.get_collection(tf.GraphKeys.UPDATE_OPS)


def test_bounded_activations_stay_within_six():
    with tf.Graph().as_default(), tf.Session() as session:
        image = 1000.0 * tf.random.stateless_normal([1, 4, 4, 8], seed=[1, 2])
        bounded, free = (
            resnet_v1.bottleneck(image, 4, 2, 1, use_bounded_activations=each)
            for each in (True, False)
        )
        session.run(tf.global_variables_initializer())
        bounded, free = session.run([bounded, free])
    assert (bounded.min(), bounded.max()) == (0.0, 6.0)
    assert (free.min(), free.max() > 6.0) == (0.0, True)


@pytest.fixture
def reference_variables():
    """Reference variables (`VariableV2`) for the length of a test."""
    tf.disable_resource_variables()
    yield
    tf.enable_resource_variables()


def test_reference_variables_have_the_same_names(reference_variables, network, variables_in):
    with tf.Graph().as_default() as graph, tf.Session() as session:
        layers_of_50 = dict(variables_in(network[0]))
        _, end_points = small(tf.zeros([2, 32, 32, 3]), 10)
        session.run(tf.global_variables_initializer())
        session.run([end_points["predictions"], *graph.get_collection(tf.GraphKeys.UPDATE_OPS)])
    assert {v.op.type for v in graph.get_collection("variables")} == {"VariableV2"}
    names = [name.replace("small/", "resnet_v1_50/") for name, _ in variables_in(graph)]
    assert set(names) <= set(layers_of_50)


def test_clones_share_their_variables(two_clones, variables_in):
    graph, end_points = two_clones(lambda: small(images(32), 10))
    with tf.Graph().as_default() as single:
        small(images(32), 10)
    assert variables_in(graph) == variables_in(single)
    names = [points["small/block4"].op.name.split("/")[0] for points in end_points]
    assert names == ["clone_0", "clone_1"]
    assert list(end_points[0]) == list(end_points[1])
    for collection, copies in ((tf.GraphKeys.UPDATE_OPS, 2), ("regularization_losses", 1)):
        assert len(graph.get_collection(collection)) == copies * len(
            single.get_collection(collection)
        )
