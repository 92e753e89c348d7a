import pytest
import tensorflow.compat.v1 as tf

from tf_frame import layers
from tf_frame.errors import ConfigError
from tf_frame_vision.nets import vgg

# Of vgg11, vgg16 and vgg19 in the table of weights of torchvision,
# https://pytorch.org/vision/stable/models.html: the same layers.
PUBLISHED_PARAMETERS = {"vgg_a": 132_863_336, "vgg_16": 138_357_544, "vgg_19": 143_667_240}
REPEATS = {"vgg_a": (1, 1, 2, 2, 2), "vgg_16": (2, 2, 3, 3, 3), "vgg_19": (2, 2, 4, 4, 4)}


def build(name="vgg_a", num_classes=1000, size=224, **arguments):
    images = tf.placeholder(tf.float32, [2, size, size, 3])
    with layers.arg_scope(vgg.vgg_arg_scope()):
        return getattr(vgg, name)(images, num_classes, **arguments)


@pytest.fixture(scope="module", params=list(REPEATS))
def network(request):
    with tf.Graph().as_default() as graph:
        logits, end_points = build(request.param)
    return request.param, graph, logits, end_points


@pytest.mark.slow
def test_variables_end_points_and_penalties_are_slims(
    network, slim_variables, variables_in, count_parameters
):
    name, graph, logits, end_points = network
    assert variables_in(graph) == slim_variables(name)
    assert count_parameters(variables_in(graph)) == PUBLISHED_PARAMETERS[name]
    expected = {}
    channels, size = (64, 128, 256, 512, 512), 224
    for block, (count, depth) in enumerate(zip(REPEATS[name], channels, strict=True), start=1):
        for index in range(1, count + 1):
            expected[f"{name}/conv{block}/conv{block}_{index}"] = [2, size, size, depth]
        size //= 2
        expected[f"{name}/pool{block}"] = [2, size, size, depth]
    dense = {"fc6": [2, 1, 1, 4096], "fc7": [2, 1, 1, 4096], "fc8": [2, 1000]}
    expected |= {f"{name}/{layer}": shape for layer, shape in dense.items()}
    assert {key: point.shape.as_list() for key, point in end_points.items()} == expected
    assert list(end_points) == list(expected)
    assert logits.op.name == f"{name}/fc8/squeezed"
    weights = [v for v in graph.get_collection("variables") if v.op.name.endswith("/weights")]
    assert len(graph.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)) == len(weights)


def test_clones_share_variables_and_small_images_are_refused(
    build_clones, variables_in, slim_variables
):
    assert (vgg.vgg_d, vgg.vgg_e) == (vgg.vgg_16, vgg.vgg_19)
    for name in REPEATS:
        function = getattr(vgg, name)
        assert (function.__name__, function.default_image_size) == (name, 224)
    with tf.Graph().as_default(), pytest.raises(ConfigError, match="223 x 223 .* 224 x 224.*SAME"):
        build(size=223)
    with tf.Graph().as_default(), pytest.raises(ConfigError, match="31 x 31 .* 32 x 32"):
        build(size=31, fc_conv_padding="SAME")
    # Clones share their variables.
    graph, end_points = build_clones(build)
    assert variables_in(graph) == slim_variables("vgg_a")
    # Slim names what poolings put out by their name scope, which has the clone in it.
    assert "clone_0/vgg_a/pool5" in end_points[0]
    assert "clone_1/vgg_a/pool5" in end_points[1]
    first, second = (points["vgg_a/fc7"].op.name for points in end_points)
    assert (first, second) == ("clone_0/vgg_a/fc7/Relu", "clone_1/vgg_a/fc7/Relu")


@pytest.fixture
def share(network):
    """Builds again, with the variables of the first network of that name."""

    def build_again(**arguments):
        name, graph, *_ = network
        with graph.as_default(), tf.variable_scope("", reuse=True):
            return build(name, **arguments)

    return build_again


@pytest.mark.parametrize("network", ["vgg_a"], indirect=True)
def test_without_classes_and_for_other_sizes(share):
    for num_classes in (None, 0):
        net, end_points = share(num_classes=num_classes)
        assert net is end_points["vgg_a/fc7"]
        assert "vgg_a/fc8" not in end_points
    logits, _ = share(size=256, spatial_squeeze=False)
    assert logits.shape.as_list() == [2, 2, 2, 1000]
    logits, end_points = share(size=256, global_pool=True)
    assert logits.shape.as_list() == [2, 1000]
    assert end_points["global_pool"].shape.as_list() == [2, 1, 1, 4096]
    same = {"fc_conv_padding": "SAME", "spatial_squeeze": False}
    assert share(size=64, **same)[0].shape.as_list() == [2, 2, 2, 1000]
    assert share(size=None, **same)[0].shape.as_list() == [2, None, None, 1000]
