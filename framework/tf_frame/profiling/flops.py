"""Floating-point operations of TensorFlow operations, by their types and static shapes.

    flops(operation)            all floating-point operations, 2 for a multiply-add
    multiply_adds(operation)    multiply-adds of convolutions, matrix products, their gradients

The counts agree with TensorFlow's registry of statistics (`tf.compat.v1.profiler` uses it). The
registry lacks most gradients, batch norm, activations and updates, does not support NCHW, and takes
the wrong dimension of a `BatchMatMul` with a transposed input. Batch norm counts as in Grappler's
cost model (tensorflow/core/grappler/costs/op_level_cost_estimator.cc). Types outside of the tables
in this module count nothing, for example types that only move data.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

# A tensor of an operation: the number of an input, or the output.
_OUTPUT = -1
# Dimensions of a kernel that an output adds up: all but the last, `[*sizes, inputs, outputs]`, or
# without the channels, `[*sizes, channels, multiplier]`.
_ALL_INPUTS, _OWN_CHANNEL = slice(-1), slice(-2)
# Type -> the outputs, or the gradient of the outputs; the kernel, or its gradient; its dimensions.
_CONVOLUTIONS = {
    "Conv2D": (_OUTPUT, 1, _ALL_INPUTS),
    "Conv2DBackpropInput": (2, 1, _ALL_INPUTS),
    "Conv2DBackpropFilter": (2, _OUTPUT, _ALL_INPUTS),
    "Conv3D": (_OUTPUT, 1, _ALL_INPUTS),
    "Conv3DBackpropInputV2": (2, 1, _ALL_INPUTS),
    "Conv3DBackpropFilterV2": (2, _OUTPUT, _ALL_INPUTS),
    "DepthwiseConv2dNative": (_OUTPUT, 1, _OWN_CHANNEL),
    "DepthwiseConv2dNativeBackpropInput": (2, 1, _OWN_CHANNEL),
    "DepthwiseConv2dNativeBackpropFilter": (2, _OUTPUT, _OWN_CHANNEL),
}
# Type -> name of the attribute that transposes the first input.
_MATRIX_PRODUCTS = {
    "MatMul": "transpose_a",
    **dict.fromkeys(["BatchMatMul", "BatchMatMulV2", "BatchMatMulV3"], "adj_x"),
}

# Type -> operations for each element of the first output.
_PER_OUTPUT = {
    **dict.fromkeys(["Add", "AddV2", "Sub", "Mul", "RealDiv", "DivNoNan", "FloorDiv", "Pow"], 1),
    **dict.fromkeys(["Maximum", "Minimum", "Mod", "FloorMod", "Select", "SelectV2"], 1),
    **dict.fromkeys(["Greater", "GreaterEqual", "Less", "LessEqual", "Equal", "NotEqual"], 1),
    **dict.fromkeys(["Abs", "Neg", "Sign", "Floor", "Ceil", "Round", "Square", "Sqrt"], 1),
    **dict.fromkeys(["Exp", "Expm1", "Log", "Log1p", "Sin", "Cos", "Reciprocal", "BiasAdd"], 1),
    **dict.fromkeys(["Relu", "Relu6", "LeakyRelu", "Elu", "Selu", "Softplus", "Softsign"], 1),
    **dict.fromkeys(["Sigmoid", "Tanh", "Cumsum"], 1),
    **dict.fromkeys(["ReluGrad", "Relu6Grad", "LeakyReluGrad", "EluGrad", "SeluGrad"], 1),
    # A comparison with each bound; (a - b)^2; a power and a division.
    **dict.fromkeys(["ClipByValue", "SquaredDifference", "Rsqrt", "SqrtGrad"], 2),
    # dy * y * (1 - y), dy * (1 - y * y), -dy * y * y.
    **dict.fromkeys(["SigmoidGrad", "TanhGrad", "ReciprocalGrad"], 3),
    "RsqrtGrad": 4,
    # Less the maximum (2), exponential, sum, and division or the subtraction of a logarithm.
    **dict.fromkeys(["Softmax", "LogSoftmax"], 5),
    # Three interpolations a + (b - a) * weight.
    **dict.fromkeys(["ResizeBilinear", "CropAndResize"], 9),
}
# Type -> operations for each element of the first input.
_PER_INPUT = {
    "Mean": 1,
    # As `Softmax`; the division is the gradient.
    "SparseSoftmaxCrossEntropyWithLogits": 5,
    # And the labels: the loss of each class (3), the subtraction in the gradient.
    "SoftmaxCrossEntropyWithLogits": 9,
    # Four products with weights, four sums.
    **dict.fromkeys(["ResizeBilinearGrad", "CropAndResizeGradImage"], 8),
    **dict.fromkeys(["FusedBatchNormGrad", "FusedBatchNormGradV2", "FusedBatchNormGradV3"], 11),
}
# Reductions: an operation for each element of the input, less the elements of the result.
_REDUCTIONS = {"Sum", "Max", "Min", "Prod", "ArgMax", "ArgMin", "BiasAddGrad"}
_BATCH_NORMS = {"FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"}
# Type -> the outputs, or the outputs of the forward operation; operations for each element of the
# window, and for each output. The gradient of a mean is weighted and added; the gradient of a
# maximum searches the maximum again.
_POOLINGS = {
    "AvgPool": (_OUTPUT, 1, 0),
    "AvgPoolGrad": (1, 2, 0),
    "MaxPool": (_OUTPUT, 1, 0),
    "MaxPoolGrad": (1, 1, 1),
}
# Optimizer -> operations for each trained value, by the equations in TensorFlow's documentation
# of the operations `ApplyMomentum` and so on. Adam: two means (3, 4), var -= rate * m /
# (sqrt(v) + epsilon) (5). RMSProp: the mean square (4), the momentum (6), the difference.
_OPTIMIZERS = {"GradientDescent": 2, "Momentum": 4, "Adagrad": 6, "Adam": 12, "RMSProp": 11}
_PER_VALUE = {
    **dict.fromkeys(["AssignAdd", "AssignSub", "AssignAddVariableOp", "AssignSubVariableOp"], 1),
    **{f"Apply{name}": count for name, count in _OPTIMIZERS.items()},
    **{f"ResourceApply{name}": count for name, count in _OPTIMIZERS.items()},
}


class UnknownShape(Exception):
    """A shape that the count depends on is not static."""


def is_product(operation: Any) -> bool:
    """Returns whether an operation is a convolution, a matrix product, or the gradient of one."""
    return operation.type in _CONVOLUTIONS or operation.type in _MATRIX_PRODUCTS


def multiply_adds(operation: Any) -> int:
    """Counts the multiply-adds of a convolution, a matrix product, or the gradient of one.

    Other types count 0. An operation that pads counts the padding.

    Raises:
      UnknownShape: an output or a kernel has no static shape.
    """
    kind = operation.type
    if kind in _CONVOLUTIONS:
        outputs, kernel, terms = _CONVOLUTIONS[kind]
        shape = _dims(_tensor(operation, kernel))
        return _size(_tensor(operation, outputs)) * math.prod(shape[terms])
    if kind in _MATRIX_PRODUCTS:
        transposed = operation.get_attr(_MATRIX_PRODUCTS[kind])
        return _size(operation.outputs[0]) * _dims(operation.inputs[0])[-2 if transposed else -1]
    return 0


def flops(operation: Any) -> int:
    """Counts the floating-point operations of one execution of a `tf.Operation`.

    Types that are not listed, and operations on integers, count 0.

    Raises:
      UnknownShape: a shape that the count depends on is not static.
    """
    tensors = (*operation.outputs, *operation.inputs)
    if not any(tensor.dtype.base_dtype.is_floating for tensor in tensors):
        return 0
    count = _COUNTS.get(operation.type)
    return count(operation) if count else 2 * multiply_adds(operation)


def _pooling(operation: Any) -> int:
    outputs, per_element, per_output = _POOLINGS[operation.type]
    window: int = math.prod(operation.get_attr("ksize"))
    return _size(_tensor(operation, outputs)) * (per_element * window + per_output)


def _update(operation: Any) -> int:
    # A resource variable has no shape; the gradient has the shape of the variable.
    sizes = [_size(tensor) for tensor in operation.inputs if tensor.dtype.base_dtype.is_floating]
    return _PER_VALUE[operation.type] * max(sizes)


_COUNTS: Mapping[str, Callable[[Any], int]] = {
    **dict.fromkeys(_PER_OUTPUT, lambda op: _PER_OUTPUT[op.type] * _size(op.outputs[0])),
    **dict.fromkeys(_PER_INPUT, lambda op: _PER_INPUT[op.type] * _size(op.inputs[0])),
    **dict.fromkeys(_REDUCTIONS, lambda op: _size(op.inputs[0]) - _size(op.outputs[0])),
    # With given statistics, batch norm is one multiply-add.
    **dict.fromkeys(
        _BATCH_NORMS, lambda op: (4 if op.get_attr("is_training") else 2) * _size(op.inputs[0])
    ),
    **dict.fromkeys(_POOLINGS, _pooling),
    **dict.fromkeys(_PER_VALUE, _update),
    "AddN": lambda op: (len(op.inputs) - 1) * _size(op.outputs[0]),
    "L2Loss": lambda op: 3 * _size(op.inputs[0]) - 1,
}


def _tensor(operation: Any, place: int) -> Any:
    return operation.outputs[0] if place == _OUTPUT else operation.inputs[place]


def _size(tensor: Any) -> int:
    """Number of elements."""
    return math.prod(_dims(tensor))


def _dims(tensor: Any) -> list[int]:
    if not tensor.shape.is_fully_defined():
        raise UnknownShape(tensor.name)
    return [int(dim) for dim in tensor.shape.as_list()]
