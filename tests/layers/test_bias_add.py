import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame import layers

IMAGES = np.random.RandomState(0).normal(size=[2, 3, 4, 5]).astype(np.float32)


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        yield


def test_every_channel_has_its_bias(evaluate, variable_mode):
    values = np.arange(5, dtype=np.float32)
    last = layers.bias_add(IMAGES, initializer=tf.constant_initializer(values))
    first = layers.bias_add(
        IMAGES, initializer=tf.constant_initializer(values[:3]), data_format="NCHW"
    )
    assert [v.op.name for v in tf.global_variables()] == ["BiasAdd/biases", "BiasAdd_1/biases"]
    last, first = evaluate(last, first)
    np.testing.assert_allclose(last, IMAGES + values)
    np.testing.assert_allclose(first, IMAGES + values[:3, None, None])


def test_as_a_normalizer_with_penalty_collections_and_activation(evaluate):
    outputs = layers.conv2d(
        IMAGES,
        2,
        1,
        activation_fn=None,
        normalizer_fn=layers.bias_add,
        normalizer_params={
            "initializer": tf.constant_initializer(-100.0),
            "regularizer": layers.l1_regularizer(0.5),
            "activation_fn": tf.nn.relu,
            "variables_collections": {"biases": ["of_biases"]},
            "outputs_collections": "ends",
        },
    )
    (biases,) = tf.get_collection("of_biases")
    assert biases.op.name == "Conv/BiasAdd/biases"
    assert list(layers.convert_collection_to_dict("ends").items()) == [("Conv/BiasAdd", outputs)]
    (penalty,) = tf.losses.get_regularization_losses()
    outputs, penalty = evaluate(outputs, penalty)
    assert not outputs.any()
    assert penalty == 100


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="data_format has to be either NCHW or NHWC"):
        layers.bias_add(IMAGES, data_format="NWC")
    with pytest.raises(ValueError, match="NCHW only supports 4D Tensor"):
        layers.bias_add(IMAGES[0], data_format="NCHW")
    with pytest.raises(ValueError, match="`C` dimension must be known but is None"):
        layers.bias_add(tf.placeholder(tf.float32, [2, None]))
    with pytest.raises(ValueError, match="Dims of shape must be known but is None"):
        layers.bias_add(tf.placeholder(tf.float32))
