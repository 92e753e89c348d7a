"""Finds forward, backward and update operations of a step, kept activations, outputs of scopes.

The backward pass reads the kept activations. Tensors that depend on variables and constants only
are neither activations nor outputs. All functions take operations in the order of their creation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tf_frame.profiling.operation_names import (
    enclosing_scopes,
    in_first_clone,
    in_scope,
    is_backward,
    layer_name,
)

_HANDLES = ("VarHandleOp", "_VarHandlesOp")
_CONSTANTS = ("Const", "ReadVariableOp", *_HANDLES, "Variable", "VariableV2")
_RANDOM = ("Multinomial", "Random", "TruncatedNormal")
# Their output shares the memory of their input.
_VIEWS = ("ExpandDims", "Identity", "PreventGradient", "Reshape", "Squeeze", "StopGradient")
# The workspace of cuDNN: its size is unknown, and on CPUs it is empty.
_WORKSPACE = ("FusedBatchNormV3", 5)
# They read no values.
_OF_SHAPES = ("Rank", "Shape", "ShapeN", "Size")


FORWARD, BACKWARD, UPDATE = "forward", "backward", "update"


def computed(operations: Sequence[Any], end: Any) -> list[Any]:
    """Leaves out operations that the last operation does not need, as Grappler does.

    `tf.gradients` makes such operations, for example the gradient of the images.
    """
    effects = {op.type: _has_effect(op) for op in {op.type: op for op in operations}.values()}
    names: set[str] = set()
    stack = [op for op in operations if op is end or effects[op.type]]
    while stack:
        op = stack.pop()
        if op.name not in names:
            names.add(op.name)
            stack += [tensor.op for tensor in op.inputs]
    return [op for op in operations if op.name in names]


def _has_effect(operation: Any) -> bool:
    definition = operation.op_def
    return definition.is_stateful or any(argument.is_ref for argument in definition.input_arg)


def phases(operations: Sequence[Any]) -> Mapping[str, str]:
    """Assigns operations, by name, to the forward pass, the backward pass or the update.

    Operations after gradients that are no gradients belong to the update.
    """
    assigned: dict[str, str] = {}
    for op in operations:
        before = (*(tensor.op for tensor in op.inputs), *op.control_inputs)
        if is_backward(op.name):
            assigned[op.name] = BACKWARD
        else:
            later = any(assigned.get(op.name, FORWARD) != FORWARD for op in before)
            assigned[op.name] = UPDATE if later else FORWARD
    return assigned


def kept_tensors(operations: Sequence[Any]) -> list[Any]:
    """Finds the tensors of the forward pass that the backward pass reads, each once.

    A view is replaced by the tensor that owns the memory.
    """
    forward = _forward(operations)
    tensors: dict[str, Any] = {}
    for op in operations:
        if is_backward(op.name) and op.type not in _OF_SHAPES:
            for tensor in map(_source, op.inputs):
                if tensor.op.name in forward and _has_values(tensor):
                    tensors[tensor.name] = tensor
    return list(tensors.values())


def scope_outputs(operations: Sequence[Any]) -> Mapping[str, Any]:
    """Finds, for each scope, the last tensor that the forward pass reads outside of the scope.

    Only tensors of floating-point numbers of the first clone count.
    """
    forward = _forward(operations)
    outputs: dict[str, Any] = {}
    for op in forward.values():
        if in_first_clone(op.name):
            for tensor in op.outputs:
                if tensor.dtype.base_dtype.is_floating:
                    readers = {layer_name(r.name) for r in tensor.consumers() if r.name in forward}
                    outputs.update(dict.fromkeys(_left(layer_name(op.name), readers), tensor))
    return outputs


def _left(layer: str, readers: set[str]) -> list[str]:
    """The scopes of a layer that a tensor leaves to be read."""
    return [
        s for s in enclosing_scopes(layer) if any(not in_scope(reader, s) for reader in readers)
    ]


def _forward(operations: Sequence[Any]) -> dict[str, Any]:
    """The operations that compute no gradients and depend on the input, by name."""
    forward: dict[str, Any] = {}
    for op in operations:
        if is_backward(op.name) or op.type in _CONSTANTS:
            continue
        begins = not op.inputs or any(word in op.type for word in _RANDOM)
        if begins or any(tensor.op.name in forward for tensor in op.inputs):
            forward[op.name] = op
    return forward


def _source(tensor: Any) -> Any:
    while tensor.op.type in _VIEWS:
        tensor = tensor.op.inputs[0]
    return tensor


def _has_values(tensor: Any) -> bool:
    kind = tensor.dtype.base_dtype
    if (tensor.op.type, tensor.value_index) == _WORKSPACE:
        return False
    return bool(kind.is_floating or kind.is_integer or kind.is_bool or kind.is_complex)
