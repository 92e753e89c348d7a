import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame_vision.nets import inception_resnet_v2
from tf_frame_vision.nets.inception_modules import smallest_size
from tf_frame_vision.nets.inception_resnet_v2 import inception_resnet_v2_base
from tf_frame_vision.nets.inception_resnet_v2_table import inception_resnet_v2_table

# Of keras.applications.InceptionResNetV2 with 1000 classes: without auxiliary logits.
KERAS_PARAMETERS = 55_873_736
# Clones are left to `tox -e slow`; inception_v1 has them always.
SLOW = [pytest.mark.slow, pytest.mark.process]

END_POINTS = {
    "Conv2d_1a_3x3": (149, 32),
    "Conv2d_2a_3x3": (147, 32),
    "Conv2d_2b_3x3": (147, 64),
    "MaxPool_3a_3x3": (73, 64),
    "Conv2d_3b_1x1": (73, 80),
    "Conv2d_4a_3x3": (71, 192),
    "MaxPool_5a_3x3": (35, 192),
    "Mixed_5b": (35, 320),
    "Mixed_6a": (17, 1088),
    "PreAuxLogits": (17, 1088),
    "Mixed_7a": (8, 2080),
    "Conv2d_7b_1x1": (8, 1536),
}
# Of slim's own tests: inception_resnet_v2_test.py in tensorflow/models, research/slim/nets.
ALIGNED_SIZES = [150, 150, 150, 75, 75, 75, 38, 38, 19, 19]
DILATED_SIZES = [149, 147, 147, 73, 73, 71, 35, 35, 33, 33]


@pytest.mark.parametrize("num_clones", [pytest.param(number, marks=SLOW) for number in (1, 2)])
def test_variables_penalties_and_end_points_are_slims_and_shared_by_clones(
    check_end_points, build_inception, num_clones, slim_variables, variables_in, count_parameters
):
    graph, clones = build_inception("inception_resnet_v2", 299, num_clones)
    variables = variables_in(graph)
    assert variables == slim_variables("inception_resnet_v2")
    without_aux = [variable for variable in variables if "/AuxLogits/" not in variable[0]]
    assert count_parameters(without_aux) - (1536 + 1) == KERAS_PARAMETERS
    # Penalties are paid once and statistics kept by each clone.
    ends = ("/weights", "/biases")
    punished = [name for name, _ in variables if name.endswith(ends)]
    assert len(graph.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)) == len(punished) == 290
    normalised = [name for name, _ in variables if name.endswith("/beta")]
    updates = graph.get_collection(tf.GraphKeys.UPDATE_OPS)
    assert len(updates) == 2 * num_clones * len(normalised)
    shapes = {"AuxLogits": [2, 1001], "global_pool": [2, 1, 1, 1536]}
    shapes |= {"PreLogitsFlatten": [2, 1536], "Logits": [2, 1001], "Predictions": [2, 1001]}
    names = {
        "PreAuxLogits": "InceptionResnetV2/InceptionResnetV2/Repeat_1/block17_20/Relu",
        "AuxLogits": "InceptionResnetV2/AuxLogits/Logits/BiasAdd",
        "global_pool": "InceptionResnetV2/Logits/AvgPool_1a_8x8/AvgPool",
        "Logits": "InceptionResnetV2/Logits/Logits/BiasAdd",
        "Predictions": "InceptionResnetV2/Logits/Predictions",
    }
    check_end_points(clones, END_POINTS, shapes, names)


@pytest.mark.slow
def test_strides_that_are_left_out_become_dilated_kernels():
    with tf.Graph().as_default() as graph:
        images = tf.zeros([2, 299, 299, 3])
        net, end_points = inception_resnet_v2_base(images, "PreAuxLogits", output_stride=8)
    assert net is end_points["PreAuxLogits"]
    assert [point.shape[1] for point in end_points.values()] == DILATED_SIZES
    dilated = [op for op in graph.get_operations() if op.type == "SpaceToBatchND"]
    # All five convolutions of each block have the rate, though it matters to two only.
    assert len(dilated) == 5 * 20
    assert all("/block17_" in op.name for op in dilated)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"output_stride": 32}, "^output_stride must be 8 or 16.$"),
        ({"output_stride": 8}, "^output_stride==8 is only supported up to the PreAuxlogits end_p"),
        ({"final_endpoint": "Mixed_9"}, r"^final_endpoint \(Mixed_9\) not recognized"),
    ],
)
def test_wrong_arguments_are_refused(arguments, message):
    with tf.Graph().as_default():
        with pytest.raises(ValueError, match=message):
            inception_resnet_v2_base(tf.zeros([2, 299, 299, 3]), **arguments)
        assert not tf.global_variables()


def test_aligned_maps_are_padded():
    with tf.Graph().as_default():
        net, end_points = inception_resnet_v2_base(
            tf.zeros([2, 299, 299, 3]), "Mixed_5b", align_feature_maps=True
        )
    assert net is end_points["Mixed_5b"]
    assert list(end_points) == list(END_POINTS)[:8]
    assert [point.shape[1] for point in end_points.values()] == ALIGNED_SIZES[:8]
    table = inception_resnet_v2_table("SAME", 16, tf.nn.relu)
    assert smallest_size(table) == 1
    assert table[8].size_after(38) == 19


@pytest.mark.parametrize("name", ["block35", "block17", "block8"])
@pytest.mark.parametrize(
    ("activation", "residual"),
    [(tf.nn.relu, 20.0), pytest.param(tf.nn.relu6, 6.0, marks=pytest.mark.slow), (None, 20.0)],
)
def test_blocks_add_a_scaled_residual(name, activation, residual):
    """Its last convolution gets weights of 0 and biases of 100, so that it is known."""
    block = getattr(inception_resnet_v2, name)
    values = np.random.RandomState(0).uniform(-30, 0, size=[1, 3, 3, 2]).astype("float32")
    with tf.Graph().as_default(), tf.Session() as session:
        net = block(tf.constant(values), scale=0.2, activation_fn=activation)
        session.run(tf.global_variables_initializer())
        last = tf.global_variables(f"{name.capitalize()}/Conv2d_1x1")
        assert [v.shape.as_list()[-1] for v in last] == [2, 2]
        session.run([last[0].assign(0 * last[0]), last[1].assign([100, 100])])
        found = session.run(net)
    summed = values + residual
    caps = {tf.nn.relu: (0, None), tf.nn.relu6: (0, 6), None: (None, None)}
    np.testing.assert_allclose(found, np.clip(summed, *caps[activation]), rtol=1e-5)
