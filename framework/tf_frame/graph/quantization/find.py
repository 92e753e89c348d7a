"""Finds layers in a forward graph: products with weights, and where their results end."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from typing import Any

_PRODUCTS = ("Conv2D", "DepthwiseConv2dNative", "MatMul")
_BATCH_NORMS = ("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3")
_ADDS = ("Add", "AddV2")
_ACTIVATIONS = ("Relu", "Relu6")
# What may stand between a product and its batch norm or activation. The first
# is the second half of an atrous depthwise convolution.
_BETWEEN = ("BatchToSpaceND", "BiasAdd", "Identity")
# The last two bring a variable into a loop or a branch.
_READS = ("Identity", "ReadVariableOp", "Enter", "Switch")
_VARIABLES = ("VarHandleOp", "VariableV2", "Variable")
# They look at a tensor without computing the model's output from it.
_ONLOOKERS = ("Shape", "ShapeN", "Size", "Rank")


@dataclasses.dataclass(frozen=True)
class Layer:
    """A product with weights, and what follows it.

    Attributes:
      op: the Conv2D, DepthwiseConv2dNative or MatMul.
      weights_index: which input of it the weights are.
      name: the scope of the weights' variable.
      batch_norm: the fused batch norm that its result goes to, or None.
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


@dataclasses.dataclass(frozen=True)
class Sum:
    """A sum of two feature maps, as in a residual block.

    Attributes:
      name: that of the last layer which is added.
      output: the tensor after the activation, if there is one.
    """

    name: str
    output: Any


def find_layers(ops: Iterable[Any]) -> list[Layer]:
    """Finds the products of a variable and something computed, in graph order."""
    layers = []
    for op in ops:
        if op.type in _PRODUCTS and op.outputs[0].dtype.base_dtype.name == "float32":
            layers += _as_layer(op)
    return layers


def find_sums(ops: Iterable[Any], layers: Sequence[Layer]) -> list[Sum]:
    """Finds sums of which a layer's output, or another such sum, is a part."""
    names = {layer.output.name: layer.name for layer in layers}
    order = {layer.name: index for index, layer in enumerate(layers)}
    sums = []
    for op in ops:
        added = [names[tensor.name] for tensor in op.inputs if tensor.name in names]
        if added and op.type in _ADDS and all(_is_feature_map(tensor) for tensor in op.inputs):
            name = max(added, key=lambda layer: order[layer])
            output, _ = _follow(op.outputs[0], _ACTIVATIONS)
            if output.name not in names:
                sums.append(Sum(name, output))
                names[output.name] = name
    return sums


def consumers_of(tensor: Any) -> list[Any]:
    """The operations that compute with a tensor, without those that only look at it."""
    return [
        op for op in tensor.consumers() if op.type not in _ONLOOKERS and "Summary" not in op.type
    ]


def variable_behind(tensor: Any) -> Any:
    """The operation of the variable that a tensor is a reading of; None if it is none."""
    op = tensor.op
    while op.type in _READS:
        op = op.inputs[0].op
    return op if op.type in _VARIABLES else None


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
    """Goes on as long as one operation, of one of these types, takes the tensor.

    Returns:
      The last tensor, and the first batch norm on the way or None.
    """
    batch_norm = None
    while True:
        consumers = consumers_of(tensor)
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
        return any(variable_behind(other) is not None for other in op.inputs)
    return bool(op.inputs[0].name == tensor.name)


def _is_feature_map(tensor: Any) -> bool:
    rank: int | None = tensor.shape.rank
    return (rank is None or rank > 1) and bool(tensor.op.type != "Const")
