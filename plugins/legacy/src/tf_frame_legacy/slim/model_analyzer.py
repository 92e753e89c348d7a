"""Sizes of operations and variables, to see which parts of a model are large.

    slim.model_analyzer.analyze_vars(tf.model_variables(), print_info=True)

Names and printed lines are from tf_slim, model_analyzer.py.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def tensor_description(var: Any) -> str:
    """Returns type and shape of a tensor or variable, such as `(float32 1x8x8x1024)`.

    The type of a reference variable is `float32_ref`, as in slim.
    """
    return f"({var.dtype.name} {'x'.join(str(size) for size in var.shape.as_list())})"


def analyze_ops(graph: Any, print_info: bool = False) -> int:
    """Counts the elements of the outputs of a graph's operations.

    Args:
      graph: the graph.
      print_info: print a line for each operation.

    Returns:
      The number of elements; an output of unknown size counts as 0.
    """
    if print_info:
        _print_heading("Operations: name -> (type shapes) [size]")
    total = 0
    for op in graph.get_operations():
        size = sum(_size(output) for output in op.outputs)
        total += size
        if print_info:
            outputs = [tensor_description(o) for o in op.outputs if o.shape]
            print(op.name, "\t->", ", ".join(outputs), f"[{size}]")
    return total


def analyze_vars(variables: Iterable[Any], print_info: bool = False) -> tuple[int, int]:
    """Counts the elements of variables.

    Args:
      variables: the variables.
      print_info: print a line for each variable, and the totals.

    Returns:
      The numbers of elements and of bytes; a variable of unknown size counts as 0.
    """
    if print_info:
        _print_heading("Variables: name (type shape) [size]")
    total_size = total_bytes = 0
    for variable in variables:
        size = _size(variable)
        size_bytes = size * variable.dtype.size
        total_size += size
        total_bytes += size_bytes
        if print_info:
            print(variable.name, tensor_description(variable), f"[{size}, bytes: {size_bytes}]")
    if print_info:
        print(f"Total size of variables: {total_size}")
        print(f"Total bytes of variables: {total_bytes}")
    return total_size, total_bytes


def _print_heading(text: str) -> None:
    print(f"---------\n{text}\n---------")


def _size(tensor: Any) -> int:
    return tensor.shape.num_elements() or 0
