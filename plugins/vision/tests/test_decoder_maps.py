"""Feature maps that DeepLab's decoder takes, by name, and other settings of its backbones."""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from sessions import save_values
from slow_cases import slow
from tf_frame import Network, NetworkContext
from tf_frame.checkpoint.warm_start.plan import candidate_variables, plan_warm_start
from tf_frame.config.option_groups import WarmStartOptions
from tf_frame.errors import ConfigError
from tf_frame_vision.slim_network import load_network

pytestmark = pytest.mark.usefixtures("graph")

SLOW = [pytest.mark.slow, pytest.mark.process]
SIDE = 65
# Channels of the decoder's maps of stride 4, 8 and 16. Expanded ones of MobileNets: 6 times the
# inputs (https://arxiv.org/abs/1801.04381), tables 1 and 2 of https://arxiv.org/abs/1905.02244.
CHANNELS = {
    "mobilenet_v2": [144, 192, 576],
    "mobilenet_v3_large": [72, 120, 672],
    "mobilenet_v3_small": [16, 88, 144],
    "mobilenet_v3_large_seg": [72, 120, 672],
    "mobilenet_v3_small_seg": [16, 88, 144],
    "resnet_v1_50": [256, 512, 1024],
    "resnet_v1_101": [256, 512, 1024],
    "resnet_v1_50_beta": [256, 512, 1024],
    "resnet_v1_101_beta": [256, 512, 1024],
    "xception_41": [256, 728, 1024],
    "xception_65": [256, 728, 1024],
    "xception_71": [256, 728, 1024],
}


def features(name, side=SIDE, output_stride=32, **settings):
    settings = {"num_classes": None, "is_training": False, **settings}
    images = tf.zeros([1, side, side, 3])
    network, context = load_network(name), NetworkContext(**settings)
    return network, *network.features(images, context, output_stride=output_stride)


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.parametrize(("name", "channels"), CHANNELS.items())
def test_the_decoder_finds_its_maps(name, channels):
    network, maps, end_points = features(name)
    found = [network.decoder_map(maps, end_points, stride) for stride in (4, 8, 16)]
    sides = [-(-SIDE // stride) for stride in (4, 8, 16)]
    expected = [[1, side, side, depth] for side, depth in zip(sides, channels, strict=True)]
    assert [tensor.shape.as_list() for tensor in found] == expected


@pytest.mark.slow
@pytest.mark.parametrize("name", ["mobilenet_v1_025", "mobilenet_v2_035"])
def test_a_stride_without_a_map_of_its_own_has_the_last_one(name):
    network, maps, end_points = features(name)
    assert network.decoder_map(maps, end_points, 2) is maps[2]
    assert (network.decoder_map(maps, end_points, 4) is maps[4]) == (name == "mobilenet_v1_025")


@pytest.mark.slow
def test_a_backbone_within_another_scope_is_found():
    with tf.variable_scope("detector"):
        network, maps, end_points = features("mobilenet_v2_035", depth_multiplier=0.1)
    name = network.decoder_map(maps, end_points, 4).op.name
    assert name == "detector/MobilenetV2/expanded_conv_2/depthwise_output"


@pytest.mark.slow
def test_strides_and_multi_grids_that_a_network_lacks():
    network, maps, end_points = features("mobilenet_v2_035", output_stride=8)
    match = "MobilenetV2_035 has no feature map of stride 16 for a decoder; its .* are 2, 4, 8$"
    with pytest.raises(ConfigError, match=match):
        network.decoder_map(maps, end_points, 16)
    assert Network(params=None).decoder_map({4: "a", 16: "b"}, {}, 4) == "a"
    with pytest.raises(ConfigError, match=r"--model.multi_grid \(1, 2, 4\): mobilenet has no such"):
        features("mobilenet_v2", multi_grid=(1, 2, 4))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "block"),
    [
        pytest.param("xception_41", "exit_flow/block2", marks=SLOW),
        ("resnet_v1_50_beta", "block4"),
    ],
)
def test_a_multi_grid_dilates_the_last_block(name, block, graph):
    features(name, output_stride=16, depth_multiplier=0.02, multi_grid=(1, 2, 4))
    rates = [
        tf.get_static_value(op.inputs[1]).tolist()
        for op in graph.get_operations()
        if op.type == "SpaceToBatchND" and block in op.name
    ]
    assert rates == [[2, 2], [4, 4], [8, 8]]


@pytest.mark.slow
@pytest.mark.parametrize("name", [pytest.param("xception_41", marks=SLOW), "resnet_v1_50_beta"])
def test_as_classifiers_they_average_and_take_settings(name, graph):
    settings = {"is_training": True, "depth_multiplier": 0.02, "batch_norm_decay": 0.5}
    if name.startswith("xception"):
        settings["dropout_keep_prob"] = 0.75
    logits, _ = load_network(name)(
        tf.zeros([2, 65, 65, 3]), NetworkContext(num_classes=5, **settings)
    )
    assert logits.shape.as_list() == [2, 5]
    drawn = [op for op in graph.get_operations() if op.type == "RandomUniform"]
    assert len([op for op in drawn if "prelogits_dropout" in op.name]) == name.startswith("xcep")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("prefix", "mapped"),
    [
        slow("", ()),
        ("FeatureExtractor/", (r"MobilenetV3/(.*)=FeatureExtractor/MobilenetV3/\1",)),
    ],
)
def test_a_backbone_starts_from_a_checkpoint_of_its_names(prefix, mapped, tmp_path):
    """Also from one that a detector wrote, with another scope in front of the names.

    DeepLab's tests have the other backbones.
    """
    features("mobilenet_v3_small", side=33, depth_multiplier=0.05)
    variables = candidate_variables()
    values = {prefix + v.op.name: np.full(v.shape.as_list(), 0.5, np.float32) for v in variables}
    path = save_values(tmp_path / "foreign", values)
    plan = plan_warm_start(WarmStartOptions(warm_start_from=path, warm_start_map=mapped), variables)
    assert f"{len(values)} of {len(values)} variables restored" in plan.summary()
    with tf.Session() as session:
        plan.init_fn(tf.train.Scaffold(), session)
        assert all((value == 0.5).all() for value in session.run(variables))
