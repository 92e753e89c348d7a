"""Folds batch norm into the weights of the convolution before it, for inference.

    factor = gamma / sigma
    factor * (conv(x, w) - mean) + beta = conv(x, factor * w) + (beta - factor * mean)

The rest is a convolution with biases, which kernels compute together with an activation or with the
sum of a residual unit; oneDNN has no kernel for batch norm and the sum. Section 3.2 of
https://arxiv.org/abs/1712.05877 has the equation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.graph.graph_edits import redirect

_BATCH_NORMS = ("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3")
_CONVOLUTIONS = ("Conv2D", "DepthwiseConv2dNative")
# BatchToSpaceND is the second half of an atrous depthwise convolution.
_BETWEEN = ("BatchToSpaceND", "Identity")
_READS = ("Identity", "ReadVariableOp")


def fold_batch_norms(graph: Any) -> int:
    """Makes a graph compute convolutions with biases instead of convolutions and batch norm.

    New operations stand beside the old ones, so tensors that a caller holds keep their meaning. A
    batch norm that uses the statistics of the batch, or half precision, stays.

    Args:
      graph: a graph that no session has run.

    Returns:
      The number of batch norms that are folded.
    """
    norms = [op for op in graph.get_operations() if op.type in _BATCH_NORMS]
    with graph.as_default():
        return sum(map(_fold, norms))


def _fold(norm: Any) -> bool:
    """Folds a batch norm; returns whether it could be folded."""
    chain = _convolution_before(norm)
    if norm.get_attr("is_training") or not chain or any(map(_enters_loop, norm.inputs[1:])):
        return False
    _, gamma, beta, mean, variance = norm.inputs
    convolution, *between = chain
    with tf.name_scope(f"{norm.name}_folded/"):
        factor = gamma * tf.rsqrt(variance + norm.get_attr("epsilon"))
        weights = convolution.inputs[1] * _for_weights(factor, convolution)
        net = _copy(convolution, convolution.inputs[0], weights)
        for op in between:
            net = _copy(op, net, *op.inputs[1:])
        layout = norm.get_attr("data_format").decode()
        net = tf.nn.bias_add(net, beta - mean * factor, data_format=layout)
    redirect(norm.outputs[0].consumers(), norm.outputs[0], net)
    return True


def _convolution_before(norm: Any) -> Sequence[Any]:
    """Returns the convolution that a batch norm follows, and the operations between them.

    The sequence is empty if there is no such convolution of float32.
    """
    chain = [norm.inputs[0].op]
    while chain[0].type in _BETWEEN:
        chain.insert(0, chain[0].inputs[0].op)
    first = chain[0]
    is_float = norm.inputs[0].dtype.base_dtype == tf.float32
    return chain if is_float and first.type in _CONVOLUTIONS else []


def _enters_loop(tensor: Any) -> bool:
    """Returns whether the body of a loop reads a variable or constant: nothing is added there."""
    op = tensor.op
    while op.type in _READS:
        op = op.inputs[0].op
    return bool(op.type == "Enter")


def _for_weights(factor: Any, convolution: Any) -> Any:
    """Returns factors `[channels]` of outputs in a shape that broadcasts against the weights."""
    if convolution.type == "DepthwiseConv2dNative":
        return tf.reshape(factor, tf.shape(convolution.inputs[1])[2:])
    return factor


def _copy(op: Any, *inputs: Any) -> Any:
    """Returns the output of a new operation that is like another, but for its inputs."""
    copy = tf.get_default_graph().create_op(
        op.type,
        list(inputs),
        [tensor.dtype for tensor in op.outputs],
        attrs=dict(op.node_def.attr),
        name=op.name.rpartition("/")[2],
    )
    return copy.outputs[0]
