"""Program that trains a small network in float32 and in bfloat16, and prints losses and types.

A process of its own, because the tests' own process has no oneDNN. Prints a line of JSON: for each
precision the losses of some steps, and the types of the convolutions that were run.
"""

import json

import numpy as np
import tensorflow.compat.v1 as tf
from tensorflow.core.protobuf import rewriter_config_pb2

from tf_frame import layers
from tf_frame.config.run_options import RunOptions
from tf_frame.deploy.mixed_precision import precision_rewrites

STEPS = 8
IMAGES = np.random.RandomState(0).uniform(-1, 1, [4, 16, 16, 8]).astype(np.float32)


def train(proto):
    """Returns the losses of some steps, and the types of the convolutions that were run."""
    metadata = tf.RunMetadata()
    traced = tf.RunOptions(output_partition_graphs=True)
    with tf.Graph().as_default(), tf.Session(config=proto) as session:
        tf.set_random_seed(1)
        net = layers.conv2d(tf.constant(IMAGES), 16, 3, scope="a")
        net = layers.global_average_pool(layers.conv2d(net, 4, 3, scope="b"), keep_dims=False)
        loss = tf.reduce_mean(
            tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[0, 1, 2, 3], logits=net)
        )
        train_op = tf.train.GradientDescentOptimizer(0.5).minimize(loss)
        session.run(tf.global_variables_initializer())
        losses = [
            float(session.run([loss, train_op], options=traced, run_metadata=metadata)[0])
            for _ in range(STEPS)
        ]
        assert {v.dtype.base_dtype for v in tf.global_variables()} == {tf.float32}
    types = {
        tf.as_dtype(node.attr["T"].type).name
        for partition in metadata.partition_graphs
        for node in partition.node
        if "Conv2D" in node.op
    }
    return losses, sorted(types)


def has_bfloat16():
    """Returns whether TensorFlow has bfloat16 convolutions on this machine."""
    proto = tf.ConfigProto()
    rewrites = proto.graph_options.rewrite_options
    rewrites.auto_mixed_precision_onednn_bfloat16 = rewriter_config_pb2.RewriterConfig.ON
    return train(proto)[1] == ["bfloat16"]


def _main():
    results = {"none": train(tf.ConfigProto())}
    if has_bfloat16():
        proto = tf.ConfigProto()
        precision_rewrites(proto, RunOptions(mixed_precision="bfloat16"), has_gpu=False)
        results["bfloat16"] = train(proto)
    print(json.dumps(results))


if __name__ == "__main__":
    _main()
