import importlib
import inspect

import pytest
import tensorflow.compat.v1 as tf

from tf_frame import NetworkContext
from tf_frame.errors import ConfigError, PluginError
from tf_frame.plugin.find import find_plugins
from tf_frame.plugin.kinds import NETWORK, PREPROCESSING
from tf_frame.plugin.load import load_plugin, load_plugin_info
from tf_frame_vision.slim_network import flat_logits, load_network

pytestmark = pytest.mark.usefixtures("graph")

OWN = [f for f in find_plugins() if f.distribution == "tf-frame-vision"]
NAMES = [found.name for found in OWN if found.kind == NETWORK]


def context(**settings):
    return NetworkContext(**{"num_classes": 10, "is_training": False, **settings})


@pytest.mark.parametrize("name", NAMES)
def test_each_says_what_its_functions_say(name):
    cls = load_plugin(NETWORK, name).cls
    module = importlib.import_module(f"tf_frame_vision.nets.{cls.module}")
    function = getattr(module, cls.function)
    assert function.default_image_size == cls.default_image_size
    arguments = inspect.signature(getattr(module, cls.arg_scope)).parameters
    decays = {argument for argument in arguments if argument.endswith("_decay")}
    assert decays == {"weight_decay", cls.decay_argument} - {None}
    found = {f.name for f in OWN if f.kind == PREPROCESSING}
    assert cls.preprocessing in found
    load_plugin_info(
        next(f for f in OWN if f.name == cls.preprocessing and f.kind == PREPROCESSING)
    )


@pytest.mark.slow
def test_settings_reach_the_network_and_unknown_ones_are_refused():
    load_network("lenet")(tf.zeros([1, 28, 28, 1]), context(weight_decay=0.5))
    assert len(tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)) == 4
    images = tf.zeros([2, 32, 32, 3])
    logits, end_points = load_network("mobilenet_v1")(
        images, context(depth_multiplier=0.25, batch_norm_decay=0.5, is_training=True)
    )
    assert logits.shape.as_list() == [2, 10]
    shapes = {v.op.name: v.shape.as_list() for v in tf.global_variables()}
    assert shapes["MobilenetV1/Conv2d_0/weights"] == [3, 3, 3, 8]
    assert "Predictions" in end_points
    # What batch norm keeps of a moving value: 1 - 0.5.
    values = {
        float(tf.get_static_value(tensor))
        for op in tf.get_collection(tf.GraphKeys.UPDATE_OPS)
        for tensor in _scalars_before(op)
    }
    assert 0.5 in values
    with pytest.raises(PluginError, match=r"'resnet_v1_51'; did you mean 'resnet_v1_50' or"):
        load_network("resnet_v1_51")
    with pytest.raises(ConfigError, match=r"2 x 3 positions.*--input.image_size.*global_pool"):
        flat_logits(tf.zeros([2, 2, 3, 5]), 5)
    for shape in ([2, 5], [2, 1, 1, 5]):
        assert flat_logits(tf.zeros(shape), 5).shape.as_list() == [2, 5]


def _scalars_before(op):
    """The scalar constants that an update is made from."""
    seen, todo = set(), [getattr(op, "op", op)]
    while todo:
        each = todo.pop()
        if each in seen or each.type in ("FusedBatchNormV3", "VarHandleOp"):
            continue
        seen.add(each)
        todo += [tensor.op for tensor in each.inputs]
    constants = (each.outputs[0] for each in seen if each.type == "Const")
    return [c for c in constants if c.shape.rank == 0 and c.dtype == tf.float32]


@pytest.mark.slow
def test_without_classes_a_network_ends_with_its_features():
    features, _ = load_network("mobilenet_v1_025")(
        tf.zeros([1, 32, 32, 3]), context(num_classes=None, global_pool=True)
    )
    assert features.shape.as_list() == [1, 1, 1, 256]


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("lenet", {"depth_multiplier": 0.5}, r"--model.depth_multiplier 0.5: lenet has no such"),
        ("vgg_a", {"batch_norm_decay": 0.9}, r"--model.batch_norm_decay 0.9: vgg_a has no such"),
        ("lenet", {"global_pool": True}, r"--model.global_pool True: lenet has no such setting"),
    ],
)
def test_a_setting_that_a_network_does_not_have_is_refused(name, settings, message):
    with pytest.raises(ConfigError, match=message):
        load_network(name)(tf.zeros([1, 28, 28, 1]), context(**settings))


@pytest.mark.slow
def test_a_setting_may_belong_to_the_arg_scope():
    images = tf.zeros([1, 32, 32, 3])
    settings = {"dropout_keep_prob": 0.25, "is_training": True, "global_pool": True}
    load_network("mobilenet_v2_035")(images, context(**settings))
    drawn = [op for op in tf.get_default_graph().get_operations() if op.type == "RandomUniform"]
    (dropped,) = [op for op in drawn if "dropout" in op.name.lower()]
    (compared,) = [op for op in dropped.outputs[0].consumers() if op.type == "GreaterEqual"]
    assert tf.get_static_value(compared.inputs[1]) == pytest.approx(0.75)


@pytest.mark.parametrize(
    "name", ["lenet", "cifarnet", pytest.param("mobilenet_v1_025", marks=pytest.mark.slow)]
)
def test_only_training_drops_features(name):
    def drawn():
        operations = tf.get_default_graph().get_operations()
        return [op for op in operations if op.type == "RandomUniform" and "/dropout/" in op.name]

    with tf.variable_scope("", reuse=tf.AUTO_REUSE):
        load_network(name)(tf.zeros([1, 32, 32, 3]), context(is_training=False))
        assert not drawn()
        load_network(name)(tf.zeros([1, 32, 32, 3]), context(is_training=True))
        assert len(drawn()) == 1
