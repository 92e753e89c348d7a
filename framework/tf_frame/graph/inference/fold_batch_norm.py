"""Folds batch norm into the weights of the convolution before it, in a graph of constants.

    factor = gamma / sigma
    factor * (conv(x, w) - mean) + beta = conv(x, factor * w) + (beta - factor * mean)

The rest is a convolution with biases, which kernels compute together with an activation or with the
sum of a residual unit; oneDNN has no kernel for batch norm and the sum. Section 3.2 of
https://arxiv.org/abs/1712.05877 has the equation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

from tf_frame.graph.graph_edits import redirect

_BATCH_NORMS = ("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3")
_CONVOLUTIONS = ("Conv2D", "DepthwiseConv2dNative")
# BatchToSpaceND is the second half of an atrous depthwise convolution.
_BETWEEN = ("BatchToSpaceND", "Identity")


def fold_batch_norms(graph: Any) -> int:
    """Makes a graph compute convolutions with biases instead of convolutions and batch norm.

    The old operations stay in the graph, so tensors of a caller keep their meaning. Batch norm is
    not folded with statistics of the batch, half precision, or inputs that are no constants.

    Args:
      graph: a frozen graph that no session has run.

    Returns:
      The number of batch norms that are folded.
    """
    norms = [op for op in graph.get_operations() if op.type in _BATCH_NORMS]
    with graph.as_default():
        return sum(map(_fold, norms))


def _fold(norm: Any) -> bool:
    """Folds a batch norm; returns whether it could be folded."""
    convolution, *between = _convolution_before(norm) or [None]
    if convolution is None or norm.get_attr("is_training"):
        return False
    constants = [_constant(tensor) for tensor in (convolution.inputs[1], *norm.inputs[1:])]
    if any(value is None for value in constants):
        return False
    weights, biases = _folded(*constants, epsilon=norm.get_attr("epsilon"), like=convolution)
    with tf.name_scope(f"{norm.name}_folded/"):
        net = _copy(convolution, convolution.inputs[0], tf.constant(weights))
        for op in between:
            net = _copy(op, net, *op.inputs[1:])
        layout = norm.get_attr("data_format").decode()
        net = tf.nn.bias_add(net, tf.constant(biases), data_format=layout)
    redirect(norm.outputs[0].consumers(), norm.outputs[0], net)
    return True


def _convolution_before(norm: Any) -> Sequence[Any]:
    """Returns the convolution that a batch norm follows, and the operations between them.

    The sequence is empty if there is no such convolution of float32.
    """
    chain = [norm.inputs[0].op]
    while chain[0].type in _BETWEEN:
        chain.insert(0, chain[0].inputs[0].op)
    is_float = norm.inputs[0].dtype.base_dtype == tf.float32
    return chain if is_float and chain[0].type in _CONVOLUTIONS else []


def _constant(tensor: Any) -> Any:
    """Returns the array of a constant that is read directly; None for other tensors."""
    op = tensor.op
    while op.type == "Identity":
        op = op.inputs[0].op
    return tf.make_ndarray(op.get_attr("value")) if op.type == "Const" else None


def _folded(
    weights: Any, gamma: Any, beta: Any, mean: Any, variance: Any, *, epsilon: float, like: Any
) -> tuple[Any, Any]:
    """Returns weights and biases of a convolution that is like another, in float32."""
    factor = gamma / np.sqrt(variance.astype(np.float64) + epsilon)
    biases = beta - mean * factor
    if like.type == "DepthwiseConv2dNative":
        factor = factor.reshape(weights.shape[2:])
    return (weights * factor).astype(np.float32), biases.astype(np.float32)


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
