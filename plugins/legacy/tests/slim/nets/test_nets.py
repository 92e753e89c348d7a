import pytest
import tensorflow.compat.v1 as tf

from tf_frame_legacy import slim
from tf_frame_legacy.slim import nets


def shapes():
    return {variable.op.name: variable.shape.as_list() for variable in tf.global_variables()}


@pytest.mark.slow
def test_resnet_of_blocks_keeps_height_and_width(graph):
    for version, module in (("v1", nets.resnet_v1), ("v2", nets.resnet_v2)):
        block = getattr(module, f"resnet_{version}_block")
        blocks = [block("block1", base_depth=1, num_units=2, stride=2)]
        blocks += [block("block2", base_depth=2, num_units=1, stride=1)]
        network = getattr(module, f"resnet_{version}")
        with slim.arg_scope(nets.resnet_utils.resnet_arg_scope()):
            logits, end_points = network(
                tf.zeros([1, 33, 33, 3]), blocks, 5, is_training=False, scope=version
            )
        assert logits.shape == (1, 1, 1, 5)
        assert end_points[f"{version}/block1"].shape == (1, 5, 5, 4)
        assert end_points["predictions"].shape == (1, 1, 1, 5)
        assert shapes()[f"{version}/block2/unit_1/bottleneck_{version}/conv2/weights"] == [
            3,
            3,
            2,
            2,
        ]


@pytest.mark.slow
def test_resnet_50(graph):
    with slim.arg_scope(nets.resnet_v1.resnet_arg_scope()):
        features, end_points = nets.resnet_v1.resnet_v1_50(
            tf.zeros([1, 64, 64, 3]), is_training=False, global_pool=False, output_stride=16
        )
    assert features.shape == (1, 4, 4, 2048)
    assert end_points["resnet_v1_50/block3"].shape == (1, 4, 4, 1024)
    assert nets.resnet_v1.resnet_v1_50.default_image_size == 224


def test_stack_blocks_dense_collects(graph):
    blocks = [nets.resnet_v1.resnet_v1_block("block1", 1, 1, 2)]
    with slim.arg_scope([nets.resnet_utils.stack_blocks_dense], outputs_collections="outputs"):
        net = nets.resnet_utils.stack_blocks_dense(tf.zeros([1, 8, 8, 4]), blocks)
    assert list(slim.utils.convert_collection_to_dict("outputs").values()) == [net]


def test_overfeat(graph):
    with slim.arg_scope(nets.overfeat.overfeat_arg_scope()):
        logits, end_points = nets.overfeat.overfeat(tf.zeros([2, 231, 231, 3]), 10)
    assert logits.shape == (2, 10)
    assert end_points["overfeat/pool5"].shape == (2, 6, 6, 1024)
    sizes = shapes()
    # 231 x 231 pixels leave 6 x 6; each of the eight layers has weights and biases.
    assert sizes["overfeat/fc6/weights"] == [6, 6, 1024, 3072]
    assert sizes["overfeat/conv2/weights"] == [5, 5, 64, 256]
    assert len(sizes) == 16


def test_inception_arg_scope_collects_moving_averages(graph):
    with slim.arg_scope(nets.inception.inception_v3_arg_scope()):
        net, _ = nets.inception.inception_v3_base(
            tf.zeros([1, 75, 75, 3]), final_endpoint="Conv2d_2a_3x3"
        )
    assert net.shape == (1, 35, 35, 32)
    moving = {variable.op.name for variable in tf.get_collection("moving_vars")}
    assert "InceptionV3/Conv2d_1a_3x3/BatchNorm/moving_mean" in moving
    assert len(moving) == 4
    assert nets.vgg.vgg_16.default_image_size == 224
