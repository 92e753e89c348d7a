import subprocess
import sys

import pytest

_PROGRAM = """
import tensorflow.compat.v1 as tf
tf.disable_v2_behavior()
from tf_frame import layers

images = tf.placeholder(tf.float32, [None, 6, 6, 3])
with layers.arg_scope([layers.conv2d], normalizer_fn=layers.batch_norm):
    net = layers.conv2d(images, 4, 3, weights_regularizer=layers.l2_regularizer(0.1))
net = layers.separable_conv2d(net, None, 3, rate=2, outputs_collections="ends")
assert list(layers.convert_collection_to_dict("ends").values()) == [net]
assert len(layers.get_variables_to_restore(exclude=["Conv/"])) == 2
net = layers.conv2d_transpose(net, 3, 2, stride=2)
net = layers.resize_bilinear(net, layers.spatial_size(images))
pooled = layers.global_average_pool(net)
gradients = tf.gradients(pooled, tf.trainable_variables())
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    session.run([gradients, updates], {images: [[[[1.0, 2.0, 3.0]] * 6] * 6]})
print(*(v.op.name for v in tf.global_variables()))
"""


@pytest.mark.process
def test_layers_work_with_v2_behaviour_off():
    result = subprocess.run([sys.executable, "-c", _PROGRAM], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert result.stdout.split() == [
        "Conv/weights",
        "Conv/BatchNorm/beta",
        "Conv/BatchNorm/moving_mean",
        "Conv/BatchNorm/moving_variance",
        "SeparableConv2d/depthwise_weights",
        "SeparableConv2d/biases",
        "Conv2d_transpose/weights",
        "Conv2d_transpose/biases",
    ]
