import pytest
import tensorflow.compat.v1 as tf

from short_backbone import shorten_backbone
from tf_frame import InputInfo, Mode
from tf_frame_deeplab.model import DeepLab, Params

INFO = InputInfo(num_classes=3, ignore_label=255, class_names=("sky", "sea", "land"))
SMALL = {"depth_multiplier": 0.1, "aspp_channels": 8, "decoder_channels": 8}


@pytest.fixture
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


@pytest.fixture
def short(monkeypatch):
    shorten_backbone(monkeypatch)


@pytest.fixture(scope="module")
def small():
    """A graph with a small network in training mode, for all tests that look at it only."""
    with tf.Graph().as_default() as graph:
        build()
    return graph


def build(size=32, mode=Mode.TRAIN, labels=True, **params):
    model = DeepLab(params=Params(**{**SMALL, **params}), info=INFO)
    features = {"image": tf.zeros([2, size, size, 3])}
    targets = {"semantic": tf.zeros([2, size, size], tf.int32)} if labels else None
    return model.build(features, targets, mode)


def names(graph, collection):
    return [variable.op.name for variable in graph.get_collection(collection)]


def shapes(graph):
    return {v.op.name: v.shape.as_list() for v in graph.get_collection("variables")}


def layer_names(graph):
    return [name for name in shapes(graph) if name.endswith(("weights", "biases"))]


def test_layers_of_the_backbone_have_slims_names(small):
    expected = ["Conv/weights"]
    for index in range(17):
        block = f"expanded_conv_{index}" if index else "expanded_conv"
        expected += [f"{block}/expand/weights"] * bool(index)
        expected += [f"{block}/depthwise/depthwise_weights", f"{block}/project/weights"]
    backbone = [name for name in layer_names(small) if name.startswith("MobilenetV2/")]
    assert backbone == [f"MobilenetV2/{name}" for name in expected]


def test_other_layers_have_deeplabs_names(small):
    assert [name for name in layer_names(small) if not name.startswith("MobilenetV2/")] == [
        "aspp0/weights",
        "aspp1_depthwise/depthwise_weights",
        "aspp1_pointwise/weights",
        "aspp2_depthwise/depthwise_weights",
        "aspp2_pointwise/weights",
        "aspp3_depthwise/depthwise_weights",
        "aspp3_pointwise/weights",
        "image_pooling/weights",
        "concat_projection/weights",
        "decoder/feature_projection0/weights",
        "decoder/decoder_conv0_depthwise/depthwise_weights",
        "decoder/decoder_conv0_pointwise/weights",
        "decoder/decoder_conv1_depthwise/depthwise_weights",
        "decoder/decoder_conv1_pointwise/weights",
        "logits/semantic/weights",
        "logits/semantic/biases",
    ]


def test_every_layer_but_the_logits_has_a_batch_norm(small):
    layers = [name.rpartition("/")[0] for name in layer_names(small) if "logits" not in name]
    parts = ("gamma", "beta", "moving_mean", "moving_variance")
    norms = {f"{layer}/BatchNorm/{part}" for layer in layers for part in parts}
    assert {name for name in shapes(small) if "BatchNorm" in name} == norms
    assert names(small, tf.GraphKeys.MODEL_VARIABLES) == names(small, tf.GraphKeys.GLOBAL_VARIABLES)
    assert len(small.get_collection(tf.GraphKeys.UPDATE_OPS)) == 2 * len(layers)


@pytest.mark.slow
def test_shapes_of_the_published_backbone(graph):
    """The shapes are those of the public checkpoint `mobilenet_v2_1.0_224`."""
    build(mode=Mode.PREDICT, labels=False, depth_multiplier=1.0)
    found = shapes(graph)
    assert found["MobilenetV2/Conv/weights"] == [3, 3, 3, 32]
    assert found["MobilenetV2/expanded_conv/depthwise/depthwise_weights"] == [3, 3, 32, 1]
    assert found["MobilenetV2/expanded_conv/project/weights"] == [1, 1, 32, 16]
    assert found["MobilenetV2/expanded_conv_1/expand/weights"] == [1, 1, 16, 96]
    assert found["MobilenetV2/expanded_conv_6/project/weights"] == [1, 1, 192, 64]
    assert found["MobilenetV2/expanded_conv_13/depthwise/depthwise_weights"] == [3, 3, 576, 1]
    assert found["MobilenetV2/expanded_conv_16/project/weights"] == [1, 1, 960, 320]


@pytest.mark.slow
@pytest.mark.usefixtures("short")
def test_penalty_is_paid_by_full_and_pointwise_weights_only(graph):
    build()
    penalties = tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)
    full = [name for name in layer_names(graph) if name.endswith("/weights")]
    assert len(penalties) == len(full)
    with tf.variable_scope("", reuse=True):
        build()
    assert tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES) == penalties


ATROUS_RATES = {16: {2, 6, 12, 18}, 8: {2, 4, 12, 24, 36}}


SLOW = [pytest.mark.slow, pytest.mark.process]
SIZES = [
    (8, 97),
    *(pytest.param(*case, marks=SLOW) for case in ((16, 64), (8, 64), (16, 65))),
]


@pytest.mark.parametrize(("stride", "size"), SIZES)
def test_shapes_and_rates_follow_stride_and_size(stride, size, graph):
    """Dilation goes through space-to-batch, whose block shape is the rate."""
    output = build(size, output_stride=stride)
    deep, quarter = -(-size // stride), -(-size // 4)
    assert output.end_points["layer_18"].shape.as_list()[1:3] == [deep, deep]
    assert output.end_points["concat_projection"].shape.as_list()[1:3] == [deep, deep]
    assert output.end_points["logits"].shape == [2, quarter, quarter, 3]
    assert output.predictions["semantic"].shape == [2, size, size]
    assert output.predictions["probabilities"].shape == [2, size, size, 3]
    assert output.loss.shape == []
    operations = [op for op in graph.get_operations() if op.type == "SpaceToBatchND"]
    rates = {int(tf.get_static_value(op.inputs[1])[0]) for op in operations}
    assert rates == ATROUS_RATES[stride]


@pytest.mark.slow
@pytest.mark.usefixtures("short")
def test_given_rates_make_as_many_branches(graph):
    build(atrous_rates=(2,))
    assert [n for n in layer_names(graph) if n.startswith("aspp")] == [
        "aspp0/weights",
        "aspp1_depthwise/depthwise_weights",
        "aspp1_pointwise/weights",
    ]


@pytest.mark.usefixtures("short")
def test_parts_that_are_left_out(graph):
    output = build(decoder_channels=0, image_pooling=False)
    assert not [n for n in shapes(graph) if n.startswith(("decoder", "image_pooling"))]
    assert output.end_points["logits"].shape == [2, 2, 2, 3]


@pytest.mark.slow
@pytest.mark.usefixtures("short")
def test_frozen_batch_norm_has_no_updates(graph):
    build(train_batch_norm=False)
    assert not tf.get_collection(tf.GraphKeys.UPDATE_OPS)


def test_last_layers_are_all_but_the_backbone(small):
    model = DeepLab(params=Params(), info=INFO)
    rest = [n for n in shapes(small) if not n.startswith(model.last_layer_scopes())]
    assert rest
    assert all(n.startswith("MobilenetV2/") for n in rest)
