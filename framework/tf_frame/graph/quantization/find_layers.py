"""Finds the layers to quantise, their outputs, and the factors of their batch norms.

A converter to integers multiplies the weights of a channel by gamma / sigma, where sigma is
the moving standard deviation, and drops the batch norm (section 3.2 of
https://arxiv.org/abs/1712.05877). Therefore the product is rounded in training:

    weights' = round(weights * gamma / sigma) / (gamma / sigma)

The batch norm stays. In training it uses the statistics of the batch. In evaluation it multiplies
by gamma / sigma, which undoes the division. That is the folding with correction of section 3.2.1 of
https://arxiv.org/abs/1806.08342, as PyTorch has it, with the division on the weights' side. The
factor has no gradient of its own: gamma has one through batch norm.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.graph.graph_edits import ASSIGNMENTS

_PRODUCTS = ("Conv2D", "DepthwiseConv2dNative", "MatMul")
_BATCH_NORMS = ("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3")
_ADDS = ("Add", "AddV2")
_ACTIVATIONS = ("Relu", "Relu6")
# Allowed between a product and its batch norm or activation. BatchToSpaceND is the second half of
# an atrous depthwise convolution.
_BETWEEN = ("BatchToSpaceND", "BiasAdd", "Identity")
# Reads of a variable; the last two bring it into a loop or a branch.
_READS = ("Identity", "ReadVariableOp", "Enter", "Switch")
_VARIABLES = ("VarHandleOp", "VariableV2", "Variable")
# Consumers that do not compute the model's output.
_OBSERVERS = ("Shape", "ShapeN", "Size", "Rank")
# Operations that compute the update of a moving variance from the variance of the batch.
_ARITHMETIC = ("Add", "AddV2", "Cast", "Identity", "Mul", "Reshape", "Squeeze", "Sub")


@dataclasses.dataclass(frozen=True)
class Layer:
    """A product with weights, with its biases, batch norm and activation.

    Attributes:
      op: the Conv2D, DepthwiseConv2dNative or MatMul.
      weights_index: number of the input that holds the weights.
      name: the scope of the weights' variable.
      batch_norm: the fused batch norm that follows, or None.
      output: the tensor after biases, batch norm and activation.
    """

    op: Any
    weights_index: int
    name: str
    batch_norm: Any
    output: Any

    @property
    def weights(self) -> Any:
        """The weights as the product reads them."""
        return self.op.inputs[self.weights_index]


def find_layers(ops: Iterable[Any]) -> list[Layer]:
    """Finds the products of a variable and something computed, in graph order."""
    layers = []
    for op in ops:
        if op.type in _PRODUCTS and op.outputs[0].dtype.base_dtype.name == "float32":
            layers += _as_layer(op)
    return layers


def find_sums(ops: Iterable[Any], layers: Sequence[Layer]) -> list[tuple[str, Any]]:
    """Finds sums of layer outputs, or of other such sums, with feature maps.

    Returns:
      For each sum, as in a residual block: the name of its last layer, and the sum, after its
      activation if there is one.
    """
    names = {layer.output.name: layer.name for layer in layers}
    order = {layer.name: index for index, layer in enumerate(layers)}
    sums = []
    for op in ops:
        added = [names[tensor.name] for tensor in op.inputs if tensor.name in names]
        if added and op.type in _ADDS and all(_is_feature_map(tensor) for tensor in op.inputs):
            name = max(added, key=lambda layer: order[layer])
            output, _ = _follow(op.outputs[0], _ACTIVATIONS)
            if output.name not in names:
                sums.append((name, output))
                names[output.name] = name
    return sums


def find_consumers(tensor: Any) -> list[Any]:
    """Returns the operations that compute with a tensor, without shapes and summaries."""
    return [
        op for op in tensor.consumers() if op.type not in _OBSERVERS and "Summary" not in op.type
    ]


def variable_behind(tensor: Any) -> Any:
    """Returns the operation of the variable that a tensor reads; None for other tensors."""
    op = tensor.op
    while op.type in _READS:
        op = op.inputs[0].op
    return op if op.type in _VARIABLES else None


def fold_factor(layer: Layer) -> Any:
    """Returns the factor of batch norm on each weight of a layer; see the module.

    Returns:
      A tensor without zeros that broadcasts against the weights; None without batch norm,
      or if no variable holds its moving variance.
    """
    norm = layer.batch_norm
    if norm is None or layer.op.type == "MatMul":
        return None
    variance = _moving_variance(norm) if norm.get_attr("is_training") else norm.inputs[4]
    if variance is None:
        return None
    factor = norm.inputs[1] * tf.rsqrt(variance + norm.get_attr("epsilon"))
    # Batch norm turns such a channel off, so any factor but 0 is right.
    factor = tf.where(tf.equal(factor, 0.0), tf.ones_like(factor), factor)
    if layer.op.type == "DepthwiseConv2dNative":
        factor = tf.reshape(factor, layer.weights.shape.as_list()[2:])
    return tf.stop_gradient(factor, name="fold_factor")


def _as_layer(op: Any) -> list[Layer]:
    for index in (1, 0):
        variable = variable_behind(op.inputs[index])
        if variable is not None and (index == 1 or op.type == "MatMul"):
            name = variable.name.rpartition("/")[0] or variable.name
            output, batch_norm = _follow(op.outputs[0], (*_BETWEEN, *_ADDS, *_BATCH_NORMS))
            output, _ = _follow(output, _ACTIVATIONS)
            return [Layer(op, index, name, batch_norm, output)]
    return []


def _follow(tensor: Any, types: tuple[str, ...]) -> tuple[Any, Any]:
    """Follows a tensor as long as a single operation, of one of these types, consumes it.

    Returns:
      The last tensor, and the first batch norm on the way or None.
    """
    batch_norm = None
    while True:
        consumers = find_consumers(tensor)
        if len(consumers) != 1 or not _continues(consumers[0], tensor, types):
            return tensor, batch_norm
        (op,) = consumers
        if op.type in _BATCH_NORMS:
            batch_norm = batch_norm or op
        tensor = op.outputs[0]
        if op.type in _ACTIVATIONS:
            return tensor, batch_norm


def _continues(op: Any, tensor: Any, types: tuple[str, ...]) -> bool:
    if op.type not in types:
        return False
    if op.type in _ADDS:
        return any(variable_behind(addend) is not None for addend in op.inputs)
    return bool(op.inputs[0].name == tensor.name)


def _is_feature_map(tensor: Any) -> bool:
    rank: int | None = tensor.shape.rank
    return (rank is None or rank > 1) and bool(tensor.op.type != "Const")


def _moving_variance(norm: Any) -> Any:
    """Reads the variable of the moving variance; None if there is none."""
    seen, tensors = set(), [norm.outputs[2]]
    while tensors:
        for op in tensors.pop().consumers():
            if op.type in ASSIGNMENTS:
                name = op.inputs[0].op.name
                variables = (v for v in tf.global_variables() if v.op.name == name)
                return next(map(tf.convert_to_tensor, variables), None)
            if op.type in _ARITHMETIC and op.name not in seen:
                seen.add(op.name)
                tensors.append(op.outputs[0])
    return None
