"""The functions of tf.contrib.framework that stand neither in slim's variables nor in TensorFlow.

`arg_scope`, variables and `assign_from_checkpoint` are in `tf_frame_legacy.slim.variables`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow.compat.v1 as tf
from tensorflow.python.ops import confusion_matrix
from tensorflow.python.training import checkpoint_ops
from tensorflow.python.util import nest


def load_checkpoint(filepattern: str) -> Any:
    """Returns the `tf.train.NewCheckpointReader` of a checkpoint, or of a folder's newest one.

    Raises:
      ValueError: the folder has no checkpoint.
    """
    return tf.train.load_checkpoint(filepattern)


def list_variables(checkpoint_dir: str) -> list[tuple[str, list[int]]]:
    """Returns names and shapes of a checkpoint (or of a folder's newest one), sorted by name."""
    shapes = load_checkpoint(checkpoint_dir).get_variable_to_shape_map()
    return sorted(shapes.items())


def load_variable(checkpoint_dir: str, name: str) -> Any:
    """Returns the array of a variable in a checkpoint, or in a folder's newest one."""
    return load_checkpoint(checkpoint_dir).get_tensor(name.removesuffix(":0"))


def init_from_checkpoint(checkpoint_dir: str, assignment_map: Mapping[str, Any]) -> None:
    """Makes the initialisers of variables read a checkpoint; see `tf.train.init_from_checkpoint`.

    Args:
      checkpoint_dir: a checkpoint, or a folder, for its newest checkpoint.
      assignment_map: name in the checkpoint -> variable or name; `scope/` -> `scope/`.
    """
    tf.train.init_from_checkpoint(checkpoint_dir, assignment_map)


def get_graph_from_inputs(op_input_list: Sequence[Any], graph: Any = None) -> Any:
    """Returns the graph of tensors and operations, after a check that they are in one graph.

    Args:
      op_input_list: tensors, operations and other values.
      graph: the expected graph; None: that of the first tensor, else the default graph.

    Raises:
      TypeError: `graph` is no graph.
      ValueError: two graphs.
    """
    if graph is not None and not isinstance(graph, tf.Graph):
        raise TypeError(f"Input graph needs to be a Graph: {graph}")
    for value in op_input_list:
        value_graph = getattr(value, "graph", None)
        if graph is not None and value_graph is not None and value_graph is not graph:
            raise ValueError(f"{value} is not from the passed-in graph {graph}.")
        graph = value_graph if graph is None else graph
    return graph or tf.get_default_graph()


def get_name_scope() -> str:
    """Returns the current name scope of the default graph."""
    return str(tf.get_default_graph().get_name_scope())


def get_placeholders(graph: Any) -> list[Any]:
    """Returns the placeholders of a graph.

    Raises:
      TypeError: `graph` is no graph.
    """
    if not isinstance(graph, tf.Graph):
        raise TypeError(f"Input graph needs to be a Graph: {graph}")
    return [op.outputs[0] for op in graph.get_operations() if op.type == "Placeholder"]


def assert_scalar_int(tensor: Any, name: str | None = None) -> Any:
    """Returns the tensor, after a check that it is a scalar of an integer type.

    Raises:
      ValueError: another type or shape.
    """
    with tf.name_scope(name, "assert_scalar_int", [tensor]) as scope:
        tensor = tf.convert_to_tensor(tensor)
        if not tensor.dtype.base_dtype.is_integer:
            raise ValueError(f"Expected integer type for {tensor.name}, received: {tensor.dtype}.")
        return tf.debugging.assert_scalar(tensor, name=scope)


def reduce_sum_n(tensors: Sequence[Any], name: str | None = None) -> Any:
    """Returns the sum of all elements of all tensors.

    Raises:
      ValueError: no tensors.
    """
    if not tensors:
        raise ValueError("No tensors provided.")
    with tf.name_scope(name, "reduce_sum_n", tensors) as scope:
        sums = [tf.reduce_sum(tensor, name=f"{tensor.op.name}/sum") for tensor in tensors]
        return sums[0] if len(sums) == 1 else tf.add_n(sums, name=scope)


def remove_squeezable_dimensions(predictions: Any, labels: Any, name: str | None = None) -> Any:
    """Squeezes the last dimension of one of two tensors with ranks that differ by 1.

    Returns:
      Predictions and labels, in this order.
    """
    labels, predictions = confusion_matrix.remove_squeezable_dimensions(
        labels, predictions, name=name
    )
    return predictions, labels


def with_same_shape(expected_tensor: Any, tensor: Any) -> Any:
    """Returns `tensor`, which must have the shape of `expected_tensor`; see `with_shape`."""
    with tf.name_scope(f"{tensor.op.name}/"):
        expected = expected_tensor.shape
        shape = expected.as_list() if expected.is_fully_defined() else tf.shape(expected_tensor)
        return with_shape(shape, tensor)


def with_shape(expected_shape: Any, tensor: Any) -> Any:
    """Returns a tensor after a check of its shape, which is static afterwards where known.

    Args:
      expected_shape: list, array or tensor `[rank]` of integers; -1 for any size. A tensor of shape
        `[1]` is reshaped for an expected scalar.
      tensor: the tensor. A shape that differs in a run is an `InvalidArgumentError`.

    Raises:
      ValueError: the static shape differs.
    """
    if isinstance(tensor, tf.SparseTensor):
        return tensor
    expected = (
        tf.get_static_value(expected_shape) if tf.is_tensor(expected_shape) else expected_shape
    )
    if expected is None:
        return _with_dynamic_shape(expected_shape, tensor)
    static = [None if size < 0 else int(size) for size in expected]
    if not static and tensor.shape.is_compatible_with([1]):
        return tf.reshape(tensor, [])
    if not tensor.shape.is_compatible_with(static):
        raise ValueError(
            f"Invalid shape for tensor {tensor.name}, expected {static}, got {tensor.shape}."
        )
    return tensor if tensor.shape.is_fully_defined() else tf.ensure_shape(tensor, static)


def py_func(
    func: Callable[..., Any],
    args: Any = (),
    kwargs: Mapping[str, Any] | None = None,
    output_types: Any = None,
    output_shapes: Any = None,
    stateful: bool = True,
    name: str | None = None,
) -> Any:
    """Calls a Python function in each run, with arrays in nested arguments and results.

    Args:
      func: function of arrays.
      args: sequence of nested tensors, the positional arguments.
      kwargs: name -> nested tensors, the other arguments.
      output_types: types in the structure of the result, or a function of the arguments.
      output_shapes: static shapes in the same structure, or such a function; None: unknown.
      stateful: False: the result depends on the arguments alone.
      name: op name.

    Raises:
      TypeError: `args` is neither a list nor a tuple, or `kwargs` is no dictionary.
    """
    kwargs = {} if kwargs is None else kwargs
    if not isinstance(args, list | tuple):
        raise TypeError(f"args must be list and not {type(args)}. args: {args}")
    if not isinstance(kwargs, dict):
        raise TypeError(f"kwargs must be dict and not {type(kwargs)}. args: {kwargs}")
    types = output_types(*args, **kwargs) if callable(output_types) else output_types
    shapes = output_shapes(*args, **kwargs) if callable(output_shapes) else output_shapes
    arguments = (args, kwargs)

    def call(*arrays: Any) -> Any:
        positional, named = nest.pack_sequence_as(arguments, arrays)
        return nest.flatten_up_to(types, func(*positional, **named))

    results = tf.py_func(call, nest.flatten(arguments), nest.flatten(types), stateful, name)
    if shapes is not None:
        for result, shape in zip(results, nest.flatten_up_to(types, shapes), strict=True):
            result.set_shape(shape)
    return nest.pack_sequence_as(types, results)


def load_linear_multiclass_bias_initializer(
    ckpt_path: str,
    bias_tensor_name: str,
    new_class_vocab_size: int,
    old_class_vocab_file: str,
    new_class_vocab_file: str,
    num_class_oov_buckets: int = 0,
    initializer: Any = None,
    max_rows_in_memory: int = -1,
) -> Any:
    """Returns an initialiser that reads the bias of classes whose vocabulary has changed.

    Args:
      ckpt_path: the checkpoint.
      bias_tensor_name: name of the bias there, `[old classes, 1]`.
      new_class_vocab_size: number of classes of the new vocabulary.
      old_class_vocab_file, new_class_vocab_file: text files, a class a line.
      num_class_oov_buckets: further classes, which get values of `initializer`.
      initializer: of classes that the checkpoint lacks; None: zeros.
      max_rows_in_memory: rows that are read together; -1: all.
    """
    return checkpoint_ops._load_and_remap_matrix_initializer(
        ckpt_path=ckpt_path,
        old_tensor_name=bias_tensor_name,
        new_row_vocab_size=new_class_vocab_size,
        new_col_vocab_size=1,
        old_row_vocab_file=old_class_vocab_file,
        new_row_vocab_file=new_class_vocab_file,
        num_row_oov_buckets=num_class_oov_buckets,
        num_col_oov_buckets=0,
        initializer=tf.zeros_initializer() if initializer is None else initializer,
        max_rows_in_memory=max_rows_in_memory,
    )


def _with_dynamic_shape(expected_shape: Any, tensor: Any) -> Any:
    actual = tf.shape(tensor)
    with tf.control_dependencies(
        [tf.debugging.assert_equal(tf.rank(tensor), tf.size(expected_shape))]
    ):
        fits = tf.reduce_all((expected_shape < 0) | tf.equal(expected_shape, actual))
    message = f"Wrong shape for {tensor.name} [expected] [actual]."
    with tf.control_dependencies([tf.Assert(fits, [message, expected_shape, actual])]):
        return tf.identity(tensor)
