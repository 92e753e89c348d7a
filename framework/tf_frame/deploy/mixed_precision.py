"""Mixed precision: TensorFlow rewrites the graph to 16-bit operations, for faster steps.

Before a run, the rewrite casts the operands of products and convolutions, forward and backward. The
Python graph and the variables stay float32.

float16 is for GPUs. TensorFlow 2.21 has a rewrite to float16 for CPUs as well, but a convolution
then ends the process with a segmentation fault. bfloat16 is for CPUs with oneDNN and AVX-512; GPUs
have no such rewrite.
"""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf
from tensorflow.core.protobuf import rewriter_config_pb2

from tf_frame.config.run_options import RunOptions
from tf_frame.errors import ConfigError

_ON = rewriter_config_pb2.RewriterConfig.ON


def precision_rewrites(proto: Any, config: RunOptions, *, has_gpu: bool) -> None:
    """Enables the rewrite of `--mixed_precision` in the `ConfigProto` of a session.

    Raises:
      ConfigError: the rewrite does not work on this machine.
    """
    if config.mixed_precision == "none":
        return
    rewrites = proto.graph_options.rewrite_options
    if config.mixed_precision == "float16":
        if not has_gpu:
            raise ConfigError(
                "--mixed_precision float16 needs a GPU, and no clone runs on one; on a CPU "
                "TensorFlow's convolutions in float16 crash; use bfloat16 or none"
            )
        rewrites.auto_mixed_precision = _ON
        return
    if has_gpu:
        raise ConfigError(
            "--mixed_precision bfloat16 is a rewrite for CPUs, and the clones run on GPUs; use "
            "float16 there, or --clone_on_cpu"
        )
    rewrites.auto_mixed_precision_onednn_bfloat16 = _ON
    if "bfloat16" not in product_types(proto):
        raise ConfigError(
            "--mixed_precision bfloat16 does nothing on this machine: TensorFlow left a matrix "
            "product in float32; it takes a CPU with AVX-512, and oneDNN, which "
            "TF_ENABLE_ONEDNN_OPTS=0 turns off; use none"
        )


def product_types(proto: Any) -> set[str]:
    """Returns the types of matrix products in a session with this `ConfigProto`."""
    metadata = tf.RunMetadata()
    with tf.Graph().as_default() as graph, tf.device("/device:CPU:0"):
        product = tf.matmul(tf.random.uniform([8, 8]), tf.random.uniform([8, 8]))
        result = tf.nn.relu(product)
    with tf.Session(graph=graph, config=proto) as session:
        options = tf.RunOptions(output_partition_graphs=True)
        session.run(result, options=options, run_metadata=metadata)
    return {
        tf.as_dtype(node.attr["T"].type).name
        for partition in metadata.partition_graphs
        for node in partition.node
        if "MatMul" in node.op
    }
