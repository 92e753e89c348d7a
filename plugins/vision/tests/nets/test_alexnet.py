import pytest
import tensorflow.compat.v1 as tf

from tf_frame import layers
from tf_frame.errors import ConfigError
from tf_frame_vision.nets.alexnet import alexnet_v2, alexnet_v2_arg_scope

LAYERS = ("conv1", "conv2", "conv3", "conv4", "conv5", "fc6", "fc7", "fc8")


def build(num_classes=1000, size=224, **arguments):
    images = tf.placeholder(tf.float32, [2, size, size, 3])
    with layers.arg_scope(alexnet_v2_arg_scope()):
        return alexnet_v2(images, num_classes, **arguments)


def test_variables_end_points_penalties_and_initial_values_are_slims(
    slim_variables, variables_in, count_parameters, build_clones
):
    with tf.Graph().as_default() as graph:
        logits, end_points = build()
    assert variables_in(graph) == slim_variables("alexnet_v2")
    # By hand, after figure 2 of https://arxiv.org/abs/1404.5997 and layers-imagenet-1gpu.cfg.
    convolutions = [(3, 11, 64), (64, 5, 192), (192, 3, 384), (384, 3, 384), (384, 3, 256)]
    dense = [(256, 5, 4096), (4096, 1, 4096), (4096, 1, 1000)]
    expected = sum((i * size**2 + 1) * o for i, size, o in convolutions + dense)
    assert count_parameters(variables_in(graph)) == expected == 50_303_912
    assert {name: point.shape.as_list() for name, point in end_points.items()} == {
        "alexnet_v2/conv1": [2, 54, 54, 64],
        "alexnet_v2/pool1": [2, 26, 26, 64],
        "alexnet_v2/conv2": [2, 26, 26, 192],
        "alexnet_v2/pool2": [2, 12, 12, 192],
        "alexnet_v2/conv3": [2, 12, 12, 384],
        "alexnet_v2/conv4": [2, 12, 12, 384],
        "alexnet_v2/conv5": [2, 12, 12, 256],
        "alexnet_v2/pool5": [2, 5, 5, 256],
        "alexnet_v2/fc6": [2, 1, 1, 4096],
        "alexnet_v2/fc7": [2, 1, 1, 4096],
        "alexnet_v2/fc8": [2, 1000],
    }
    assert logits.op.name == "alexnet_v2/fc8/squeezed"
    assert alexnet_v2.default_image_size == 224
    penalties = graph.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)
    assert [penalty.op.name.split("/")[1] for penalty in penalties] == list(LAYERS)
    # All biases begin at 0.1 but those of the logits; late weights with a deviation of 0.005.
    biases = [f"alexnet_v2/{layer}/biases/Initializer/Const:0" for layer in LAYERS[:-1]]
    late = "alexnet_v2/fc8/weights/Initializer/truncated_normal:0"
    with tf.Session(graph=graph) as session:
        for values in session.run(biases):
            assert values == pytest.approx(0.1)
        assert (session.run("alexnet_v2/fc8/biases/Initializer/zeros:0") == 0).all()
        assert session.run(late).std() == pytest.approx(0.8796 * 0.005, rel=0.01)
    graph, end_points = build_clones(build)
    assert variables_in(graph) == slim_variables("alexnet_v2")
    first, second = (points["alexnet_v2/fc7"].op.name for points in end_points)
    assert (first.split("/")[0], second.split("/")[0]) == ("clone_0", "clone_1")


@pytest.mark.slow
def test_images_of_other_sizes_give_a_map_are_averaged_or_refused():
    with tf.Graph().as_default():
        logits, _ = build(10, size=300, spatial_squeeze=False)
        assert logits.op.name == "alexnet_v2/fc8/BiasAdd"
        assert logits.shape.as_list() == [2, 4, 4, 10]
    with tf.Graph().as_default():
        logits, end_points = build(10, size=300, global_pool=True)
        assert logits.shape.as_list() == [2, 10]
        assert end_points["global_pool"].shape.as_list() == [2, 1, 1, 4096]
    with tf.Graph().as_default():
        logits, _ = build(10, size=None, global_pool=True)
    assert logits.shape.as_list() == [2, 10]
    with tf.Graph().as_default():
        build(10, size=195)
    with tf.Graph().as_default(), pytest.raises(ConfigError, match="194 x 194 .* 195 x 195"):
        build(10, size=194)
