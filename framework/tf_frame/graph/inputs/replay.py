"""Reads an input again whose position cannot be saved, up to the step where a run goes on.

Iterators with Python functions or stateful random operations cannot be saved. Where every step
takes the same number of batches, the number of steps is the position.
"""

from __future__ import annotations

import contextlib
import inspect
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import tensorflow.compat.v1 as tf
from tensorflow.core.framework import dataset_options_pb2
from tensorflow.python.ops import script_ops

from tf_frame.checkpoint.find.newest import read_step
from tf_frame.checkpoint.find.reader import Checkpoint
from tf_frame.gradient_transforms.accumulate import RUNS_SINCE_UPDATE
from tf_frame.graph.graph_edits import FunctionLibrary, ancestors
from tf_frame.progress_bar import ProgressBar

_LINE_SECS = 10.0
_PYTHON = ("PyFunc", "EagerPyFunc")
_RANDOM = ("Random", "Multinomial", "ParameterizedTruncatedNormal", "TruncatedNormal")

# Python functions first: an input without stateful random numbers still needs this change.
_REMEDIES = {
    _PYTHON: "replace its Python functions (tf.numpy_function, tf.py_function, "
    "Dataset.from_generator) by operations of TensorFlow",
    _RANDOM: "draw random numbers by stateless ops (tf.random.stateless_uniform) from "
    "context.seed and the number of the example (Dataset.enumerate)",
}


def count_runs(checkpoint: Checkpoint, *, runs_per_step: int) -> int:
    """Returns the runs of the train op before a checkpoint was saved."""
    name = RUNS_SINCE_UPDATE
    since = int(checkpoint.read(name)) if name in checkpoint else 0
    return read_step(checkpoint.path) * runs_per_step + since


def take_again(
    session: Any, initializers: Iterable[Any], runs: int, *, interrupted: Callable[[], object]
) -> None:
    """Takes batches of initialised iterators, as so many runs of the train op take them.

    Shows a bar on a terminal, and else a line from time to time. Ends early when the input ends,
    or a signal asks the process to end.
    """
    handles = [initializer.inputs[1] for initializer in initializers]
    users = [op for handle in handles for op in handle.consumers()]
    take = session.make_callable([op for op in users if op.type == "IteratorGetNext"])
    shown = time.monotonic()
    bar = ProgressBar(total=runs, unit="step", desc="reading again", leave=False, delay=1)
    with bar, contextlib.suppress(tf.errors.OutOfRangeError):
        # At the end of the input the next step ends, as it would without a resume.
        for done in range(runs):
            if interrupted():
                return
            if bar.disable and time.monotonic() > shown + _LINE_SECS:
                shown = time.monotonic()
                print(f"read the input of {done} of {runs} steps again", flush=True)
            take()
            bar.update()


def describe_exactness(initializers: Sequence[Any]) -> str:
    """Says how exactly a run goes on after data sets were read again from their beginning."""
    nodes = list(_nodes(initializers))
    disorder = dict.fromkeys(reason for node, inner in nodes for reason in _disorder(node, inner))
    if disorder:
        return f"and goes on with other examples: {', '.join(disorder)}"
    python = [node for node, _ in nodes if node.op in _PYTHON]
    parallel = [node for node, inner in nodes if _is_parallel(node) and _has(inner, _PYTHON)]
    if parallel:
        condition = "its Python functions return the same again, in any order of their calls"
        return f"and goes on exactly if {condition}"
    if python:
        return "and goes on exactly if its Python functions return the same again"
    return "and goes on exactly"


def stateful_remedies(initializers: Sequence[Any]) -> list[str]:
    """Returns a change of the input for each kind of its operations that no checkpoint holds."""
    nodes = [node for node, _ in _nodes(initializers)]
    return [remedy for types, remedy in _REMEDIES.items() if _has(nodes, types)]


def python_functions(initializers: Sequence[Any]) -> list[str]:
    """Names the Python functions of data sets by name, file and line, as far as they are known."""
    nodes = [node for node, _ in _nodes(initializers) if node.op in _PYTHON]
    return list(dict.fromkeys(_function_name(node) for node in nodes))


def _function_name(node: Any) -> str:
    # TensorFlow has no public way from an operation to its function.
    function = script_ops._py_funcs._funcs.get(node.attr["token"].s.decode())
    function = inspect.unwrap(getattr(function, "_func", function))
    code = getattr(function, "__code__", None)
    if code is None:
        return str(node.name)
    return f"{code.co_name} ({os.path.basename(code.co_filename)}, line {code.co_firstlineno})"


def _nodes(initializers: Sequence[Any]) -> Iterator[tuple[Any, list[Any]]]:
    """Yields all nodes of data sets, and for each of them the nodes of its functions."""
    if not initializers:
        return
    library = FunctionLibrary(initializers[0].graph)
    for op in ancestors(initializers):
        inner = list(library.nodes(op.node_def))
        yield op.node_def, inner
        for node in inner:
            yield node, list(library.nodes(node))


def _disorder(node: Any, inner: Sequence[Any]) -> Iterator[str]:
    """Yields why the elements of a data set differ from one pass to the next."""
    attributes = node.attr
    options = dataset_options_pb2.Options()
    options.ParseFromString(attributes["serialized_options"].s)
    is_off = options.WhichOneof("optional_deterministic") and not options.deterministic
    if is_off or attributes["deterministic"].s == b"false" or attributes["sloppy"].b:
        yield "the order of its elements is not fixed (deterministic=False)"
    if _is_parallel(node) and _has(inner, _RANDOM):
        yield "parallel calls draw random numbers in no fixed order"
    if node.op.startswith(_RANDOM) and not (attributes["seed"].i or attributes["seed2"].i):
        yield "it draws random numbers without a seed"


def _is_parallel(node: Any) -> bool:
    kind: str = node.op
    return kind.startswith(("Parallel", "LegacyParallel", "MapAndBatch"))


def _has(nodes: Iterable[Any], types: tuple[str, ...]) -> bool:
    return any(node.op.startswith(types) for node in nodes)
