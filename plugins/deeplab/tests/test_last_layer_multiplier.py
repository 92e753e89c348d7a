import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from sessions import run_initialized
from tf_frame_deeplab.last_layer_multiplier import LastLayerMultiplier, Params

pytestmark = pytest.mark.usefixtures("graph")


def variable(name):
    return tf.get_variable(name, initializer=tf.zeros([2, 2]))


def transform(pairs, **params):
    return LastLayerMultiplier(params=Params(**params))(pairs)


@pytest.mark.parametrize(
    ("name", "factor"),
    [
        ("MobilenetV2/Conv/weights", 1),
        ("MobilenetV2/Conv/biases", 2),
        ("logits/semantic/weights", 10),
        ("logits/semantic/biases", 20),
        ("aspp1_depthwise/depthwise_weights", 10),
        ("meta_architecture/branch0/weights", 10),
        ("decoder/feature_projection0/BatchNorm/gamma", 10),
        ("prefix/image_pooling/biases", 20),
        ("decoder/logits/weights", 10),
    ],
)
def test_factors_follow_from_names(name, factor):
    ((gradient, _),) = transform([(tf.ones([2, 2]), variable(name))], multiplier=10.0)
    np.testing.assert_array_equal(run_initialized(gradient), np.full([2, 2], factor))


def test_defaults_double_biases_only_and_options_change_layers_and_factors():
    pairs = [(tf.ones([2, 2]), variable("logits/weights")), (tf.ones([2, 2]), variable("a/biases"))]
    weights, biases = transform(pairs)
    assert weights[0] is pairs[0][0]
    assert (run_initialized(biases[0]) == 2).all()
    params = Params(multiplier=3.0, bias_multiplier=5.0, last_layers=("head",))
    factor = LastLayerMultiplier(params=params).factor
    names = ("logits/weights", "head/weights", "head/biases")
    assert [factor(name) for name in names] == [1, 3, 15]


def test_indexed_slices_stay_sparse_and_none_passes():
    gradient = tf.IndexedSlices(tf.ones([1, 2]), tf.constant([1]), tf.constant([2, 2]))
    ((scaled, _),) = transform([(gradient, variable("logits/biases"))], multiplier=10.0)
    assert isinstance(scaled, tf.IndexedSlices)
    assert scaled.indices is gradient.indices
    assert scaled.dense_shape is gradient.dense_shape
    np.testing.assert_array_equal(run_initialized(scaled.values), [[20, 20]])
    # None passes, and where nothing matches nothing changes.
    pairs = [(tf.ones([2, 2]), variable("a/weights")), (None, variable("other/logits/biases"))]
    operations = len(tf.get_default_graph().get_operations())
    assert transform(pairs, multiplier=10.0) == pairs
    assert len(tf.get_default_graph().get_operations()) == operations
