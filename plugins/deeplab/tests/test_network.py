import pytest
import tensorflow.compat.v1 as tf

from tf_frame import InputInfo, Mode
from tf_frame_deeplab.model import DeepLab, Params

pytestmark = pytest.mark.usefixtures("graph")

INFO = InputInfo(num_classes=3, ignore_label=255, class_names=("sky", "sea", "land"))
SMALL = {"depth_multiplier": 0.1, "aspp_channels": 8, "decoder_channels": 8}


def build(size=32, mode=Mode.TRAIN, labels=True, **params):
    model = DeepLab(params=Params(**{**SMALL, **params}), info=INFO)
    features = {"image": tf.zeros([2, size, size, 3])}
    targets = {"semantic": tf.zeros([2, size, size], tf.int32)} if labels else None
    return model.build(features, targets, mode)


def shapes():
    return {v.op.name: v.shape.as_list() for v in tf.global_variables()}


def layer_names():
    return [name for name in shapes() if name.endswith(("weights", "biases"))]


def test_layers_have_the_names_of_slim_and_deeplab_and_batch_norms():
    build()
    backbone = ["Conv/weights"]
    for index in range(17):
        block = f"expanded_conv_{index}" if index else "expanded_conv"
        backbone += [f"{block}/expand/weights"] * bool(index)
        backbone += [f"{block}/depthwise/depthwise_weights", f"{block}/project/weights"]
    atrous, decoder = (
        [
            f"{layer}{index}{part}"
            for index in indices
            for part in ("_depthwise/depthwise_weights", "_pointwise/weights")
        ]
        for layer, indices in (("aspp", (1, 2, 3)), ("decoder/decoder_conv", (0, 1)))
    )
    assert layer_names() == [
        *(f"MobilenetV2/{name}" for name in backbone),
        "aspp0/weights",
        *atrous,
        "image_pooling/weights",
        "concat_projection/weights",
        "decoder/feature_projection0/weights",
        *decoder,
        "logits/semantic/weights",
        "logits/semantic/biases",
    ]
    # Every layer has a batch norm, except for the logits.
    layers = [name.rpartition("/")[0] for name in layer_names() if "logits" not in name]
    parts = ("gamma", "beta", "moving_mean", "moving_variance")
    norms = {f"{layer}/BatchNorm/{part}" for layer in layers for part in parts}
    assert {name for name in shapes() if "BatchNorm" in name} == norms
    assert [variable.op.name for variable in tf.model_variables()] == list(shapes())
    assert len(tf.get_collection(tf.GraphKeys.UPDATE_OPS)) == 2 * len(layers)
    # The last layers are all except for the backbone.
    model = DeepLab(params=Params(), info=INFO)
    rest = [name for name in shapes() if not name.startswith(model.last_layer_scopes())]
    assert rest
    assert all(name.startswith("MobilenetV2/") for name in rest)


@pytest.mark.slow
def test_shapes_of_the_published_backbone():
    """The shapes are those of the public checkpoint `mobilenet_v2_1.0_224`."""
    build(mode=Mode.PREDICT, labels=False, depth_multiplier=1.0)
    expected = {
        "Conv/weights": [3, 3, 3, 32],
        "expanded_conv/depthwise/depthwise_weights": [3, 3, 32, 1],
        "expanded_conv/project/weights": [1, 1, 32, 16],
        "expanded_conv_1/expand/weights": [1, 1, 16, 96],
        "expanded_conv_6/project/weights": [1, 1, 192, 64],
        "expanded_conv_13/depthwise/depthwise_weights": [3, 3, 576, 1],
        "expanded_conv_16/project/weights": [1, 1, 960, 320],
    }
    assert {name: shapes()[f"MobilenetV2/{name}"] for name in expected} == expected


@pytest.mark.slow
@pytest.mark.usefixtures("short")
def test_penalty_is_paid_by_full_and_pointwise_weights_only():
    build()
    penalties = tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)
    full = [name for name in layer_names() if name.endswith("/weights")]
    assert len(penalties) == len(full)
    with tf.variable_scope("", reuse=True):
        build()
    assert tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES) == penalties


ATROUS_RATES = {16: {2, 6, 12, 18}, 8: {2, 4, 12, 24, 36}}


SLOW = [pytest.mark.slow, pytest.mark.process]
SIZES = [(8, 97), *(pytest.param(*case, marks=SLOW) for case in ((16, 64), (8, 64), (16, 65)))]


@pytest.mark.slow
@pytest.mark.parametrize(("stride", "size"), SIZES)
def test_shapes_and_rates_follow_stride_and_size(stride, size, graph):
    """Dilation is done by space-to-batch with the rate as the block shape."""
    output = build(size, output_stride=stride, align_corners=size % 2 == 1)
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
def test_given_rates_make_as_many_branches_and_parts_can_be_left_out():
    options = {"decoder_channels": 0, "image_pooling": False, "train_batch_norm": False}
    output = build(atrous_rates=(2,), **options)
    assert [name for name in layer_names() if name.startswith("aspp")] == [
        "aspp0/weights",
        "aspp1_depthwise/depthwise_weights",
        "aspp1_pointwise/weights",
    ]
    assert not [name for name in shapes() if name.startswith(("decoder", "image_pooling"))]
    assert output.end_points["logits"].shape == [2, 2, 2, 3]
    assert not tf.get_collection(tf.GraphKeys.UPDATE_OPS)
