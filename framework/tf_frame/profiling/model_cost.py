"""Cost of a model by its graph alone: parameters, multiply-adds, kept activations, per layer.

    layers = model_layers(graph, variables=tf.trainable_variables(), step=train_op)
    profile = costs(graph, variables=tf.trainable_variables(), step=train_op)

A layer is a name scope with all scopes inside. The module `operation_names` finds the layer of an
operation by its name. A gradient counts for the layer of the forward operation. The costs of all
clones are added. Operations of a loop count once; operations in a `tf.function` are not counted.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.graph.graph_edits import ancestors
from tf_frame.profiling.flops import UnknownShape, flops, is_product, multiply_adds
from tf_frame.profiling.operation_names import enclosing_scopes, layer_name
from tf_frame.profiling.step_graph import (
    BACKWARD,
    FORWARD,
    computed,
    kept_tensors,
    phases,
    scope_outputs,
)
from tf_frame.profiling.step_profile import Cost

# Operations that return a batch.
_INPUTS = ("IteratorGetNext", "Placeholder", "QueueDequeueManyV2", "QueueDequeueUpToV2")


@dataclasses.dataclass
class Layer:
    """A name scope of a model with all scopes inside.

    Attributes:
      name: the scope; empty for the whole model.
      output: shape of its last output, in the first clone; None without one, or unknown.
      parameters: number of trained values.
      multiply_adds: multiply-adds of forward convolutions and matrix products in a step.
      activation_bytes: bytes of the tensors that the forward pass keeps for the backward pass.
      flops: floating-point operations of a step, 2 for a multiply-add. The update of the variables
        is in the scope of the optimizer.
      forward_flops, backward_flops: operations of the forward and the backward pass.
      unknown_products: convolutions and matrix products without static shapes, not counted.
      unknown: other operations and kept tensors without static shapes, not counted.
    """

    name: str
    output: tuple[int | None, ...] | None = None
    parameters: int = 0
    multiply_adds: int = 0
    activation_bytes: int = 0
    flops: int = 0
    forward_flops: int = 0
    backward_flops: int = 0
    unknown_products: int = 0
    unknown: int = 0


def costs(
    graph: Any, *, variables: Iterable[Any], step: Any = None, batch_size: int | None = None
) -> tuple[Cost, ...]:
    """Returns the costs of scopes for a profile; the first is the whole model.

    Arguments as of `model_layers`.
    """
    layers = model_layers(graph, variables=variables, step=step, batch_size=batch_size)
    return tuple(
        Cost(layer.name, layer.parameters, None if layer.unknown_products else layer.flops)
        for layer in layers
        if not layer.name or layer.parameters or layer.flops or layer.unknown_products
    )


def model_layers(
    graph: Any, *, variables: Iterable[Any], step: Any = None, batch_size: int | None = None
) -> tuple[Layer, ...]:
    """Counts the cost of each scope of a graph.

    Args:
      graph: the `tf.Graph`; it is not changed.
      variables: the trained variables.
      step: the operation or tensor that runs a step; None: every operation of the graph.
      batch_size: examples in the batch of a clone, for inputs of unknown batch size.

    Returns:
      The whole model, and its scopes in the order of the graph.
    """
    operations = graph.get_operations() if step is None else ancestors([step])
    phase_of = phases(operations)
    if step is not None:
        operations = computed(operations, getattr(step, "op", step))
    operations = of_batch_size(graph, operations, batch_size)
    layers = {"": Layer("")}
    for op in operations:
        _count_operation(op, phase_of[op.name], _enclosing(layers, op.name))
    for tensor in kept_tensors(operations):
        _count_kept(tensor, _enclosing(layers, tensor.op.name))
    for scope, tensor in scope_outputs(operations).items():
        layers[scope].output = tuple(tensor.shape.as_list()) if tensor.shape.rank else None
    for variable in variables:
        for layer in _enclosing(layers, variable.op.name):
            layer.parameters += variable.shape.num_elements() or 0
    return tuple(layers.values())


def step_flops(graph: Any, step: Any, batch_size: int | None = None) -> int | None:
    """Returns the floating-point operations of a step, 2 for a multiply-add.

    None if a convolution or a matrix product has no static shapes. Arguments as of `model_layers`.
    """
    operations = computed(ancestors([step]), getattr(step, "op", step))
    total = 0
    for op in of_batch_size(graph, operations, batch_size):
        try:
            total += flops(op)
        except UnknownShape:
            if is_product(op):
                return None
    return total


def of_batch_size(graph: Any, operations: Sequence[Any], batch_size: int | None) -> Sequence[Any]:
    """Returns the operations; those of a copy if the batch size is given, and unknown there."""
    if batch_size is None or not any(map(_lacks_batch_size, operations)):
        return operations
    names = {op.name for op in operations}
    copy = _with_batch_size(graph, batch_size)
    return [op for op in copy.get_operations() if op.name in names]


def _enclosing(layers: dict[str, Layer], name: str) -> list[Layer]:
    """The layers that an operation or variable belongs to, from the whole model on."""
    return [layers.setdefault(scope, Layer(scope)) for scope in enclosing_scopes(layer_name(name))]


def _count_operation(op: Any, phase: str, layers: Sequence[Layer]) -> None:
    try:
        products, all_flops = multiply_adds(op), flops(op)
    except UnknownShape:
        for layer in layers:
            layer.unknown_products += is_product(op)
            layer.unknown += not is_product(op)
        return
    for layer in layers:
        layer.flops += all_flops
        if phase == FORWARD:
            layer.forward_flops += all_flops
            layer.multiply_adds += products
        elif phase == BACKWARD:
            layer.backward_flops += all_flops


def _count_kept(tensor: Any, layers: Sequence[Layer]) -> None:
    size = tensor.shape.num_elements()
    for layer in layers:
        if size is None:
            layer.unknown += 1
        else:
            layer.activation_bytes += size * tensor.dtype.base_dtype.size


def _lacks_batch_size(op: Any) -> bool:
    shapes = [tensor.shape for tensor in op.outputs] if op.type in _INPUTS else []
    return any(shape.rank and shape.as_list()[0] is None for shape in shapes)


def _with_batch_size(graph: Any, batch_size: int) -> Any:
    """A copy of a graph with this batch size for inputs of unknown batch size."""
    content = graph.as_graph_def(add_shapes=True)
    for node in content.node:
        if node.op in _INPUTS:
            for shape in node.attr["_output_shapes"].list.shape:
                if shape.dim and shape.dim[0].size == -1:
                    shape.dim[0].size = batch_size
    copy = tf.Graph()
    with copy.as_default():
        tf.import_graph_def(content, name="")
    return copy
