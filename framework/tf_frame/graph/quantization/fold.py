"""Batch norm's factor on the weights, which an integer network has folded into them.

A converter multiplies the weights of a channel by gamma / sigma, sigma being
the moving deviation, and drops the batch norm (section 3.2 of
https://arxiv.org/abs/1712.05877). So it is the product that must be rounded:

    weights' = round(weights * gamma / sigma) / (gamma / sigma)

The batch norm itself stays: in training it uses the statistics of the batch,
and in evaluation it undoes the division. That is the folding with correction
of https://arxiv.org/abs/1806.08342, section 3.2.1, as PyTorch has it, with the
division on the weights' side. The factor gets no gradient of its own: gamma
has one through batch norm.
"""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.graph.quantization.find import Layer

_ASSIGNMENTS = (
    "Assign",
    "AssignAdd",
    "AssignSub",
    "AssignVariableOp",
    "AssignAddVariableOp",
    "AssignSubVariableOp",
)
# What a moving average is computed with.
_ARITHMETIC = ("Add", "AddV2", "Cast", "Identity", "Mul", "Reshape", "Squeeze", "Sub")


def fold_factor(layer: Layer) -> Any:
    """Batch norm's factor on each weight.

    Args:
      layer: one that goes to a batch norm.

    Returns:
      A tensor that broadcasts against the weights, without zeros; None if
      there is no batch norm, or no variable holds its moving variance.
    """
    norm = layer.batch_norm
    if norm is None or layer.op.type == "MatMul":
        return None
    variance = _moving_variance(norm) if norm.get_attr("is_training") else norm.inputs[4]
    if variance is None:
        return None
    factor = norm.inputs[1] * tf.rsqrt(variance + norm.get_attr("epsilon"))
    # A channel that batch norm turns off is not heard: any factor will do, but 0.
    factor = tf.where(tf.equal(factor, 0.0), tf.ones_like(factor), factor)
    if layer.op.type == "DepthwiseConv2dNative":
        factor = tf.reshape(factor, layer.weights.shape.as_list()[2:])
    return tf.stop_gradient(factor, name="fold_factor")


def _moving_variance(norm: Any) -> Any:
    """Reads the variable that the batch's variance is averaged in; None if there is none."""
    seen, tensors = set(), [norm.outputs[2]]
    while tensors:
        for op in tensors.pop().consumers():
            if op.type in _ASSIGNMENTS:
                return _read(op.inputs[0].op.name)
            if op.type in _ARITHMETIC and op.name not in seen:
                seen.add(op.name)
                tensors.append(op.outputs[0])
    return None


def _read(name: str) -> Any:
    for variable in tf.global_variables():
        if variable.op.name == name:
            return tf.convert_to_tensor(variable)
    return None
