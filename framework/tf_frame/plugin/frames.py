"""Finds the frames of plugins' code that an exception, or an operation of a graph, comes from.

An error of a session has no such frames in its traceback: it names an operation, which was made
elsewhere, or contains the traceback of a Python function of the input as text.
"""

from __future__ import annotations

import contextlib
import linecache
import re
import traceback
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from tf_frame.plugin.find import PluginInfo
from tf_frame.plugin.origin import is_foreign, package_of_file, plugin_of

# A frame within a text, as TensorFlow writes those of operations and of functions of a data set.
_FRAME = re.compile(r'File "([^"\n]+)", line (\d+), in ([^\s\n]+)')
# The operation of a failed run, as a prepared call and as `Session.run` name it.
_NODE = re.compile(r"\{\{node ([^}]+)\}\}")
_FUNCTION = re.compile(r"\{\{function_node ([^}]+)\}\}")
_PYTHON = "Traceback (most recent call last):"
# Errors of a session that say nothing about the operation that got them.
_OF_MACHINES = (
    *("AbortedError", "UnavailableError", "CancelledError", "DeadlineExceededError"),
    *("ResourceExhaustedError", "DataLossError"),
)


class Frame(NamedTuple):
    """A place in a plugin's code."""

    path: str
    line: int
    function: str

    @property
    def short(self) -> str:
        """The place in a message: file from the package on, and line."""
        found = package_of_file(self.path)
        return f"{found[1] if found else self.path}, line {self.line}"

    def __str__(self) -> str:
        code = linecache.getline(self.path, self.line).strip()
        place = f'  File "{self.path}", line {self.line}, in {self.function}'
        return f"{place}\n    {code}" if code else place


class Made(NamedTuple):
    """A failed operation, and the frames of the plugin that made it; no name: Python failed."""

    operation: str
    frames: Sequence[Frame]


def is_of_session(error: BaseException) -> bool:
    """Returns whether an exception is one of `tf.errors`; TensorFlow need not be imported."""
    return hasattr(error, "error_code") and hasattr(error, "node_def")


def made_in_plugin(error: BaseException) -> Made:
    """The frames of plugins' code that an exception comes from, outermost first; maybe none."""
    text = str(error)
    if not is_of_session(error):
        frames = _of_traceback(error)
        # AutoGraph runs a converted copy of a function, and names the original in the message.
        return Made("", [*frames, *(each for each in _of_text(text) if each not in frames)])
    if type(error).__name__ in _OF_MACHINES:
        return Made("", [])
    node = _NODE.search(text)
    if of_python := _of_python(text):
        return Made("", of_python)
    if node and (of_operation := _of_text(text)):
        return Made(node[1], of_operation)
    return Made("", _of_traceback(error))


def made_by_operation(error: BaseException, graph: Any) -> Made | None:
    """Finds the operation that an error of a session names, and the lines that made it.

    `Session.run` puts that into the message, a prepared call does not; and neither says for
    which operation of the model a gradient was made.

    Args:
      error: any exception.
      graph: the graph of the session.
    """
    text = str(error)
    not_of_graph = not is_of_session(error) or type(error).__name__ in _OF_MACHINES
    if not_of_graph or _of_python(text):
        return None
    names = [*_NODE.findall(text), *(_caller(each, graph) for each in _FUNCTION.findall(text))]
    for name in names:
        with contextlib.suppress(KeyError):
            operation = graph.get_operation_by_name(name)
            while operation is not None:
                stack = operation.traceback
                frames = _owned(Frame(f.filename, f.lineno, f.name) for f in stack)
                if frames:
                    return Made(operation.name, frames)
                operation = operation._original_op
    return None


def _caller(function: str, graph: Any) -> str:
    """The operation of a graph that calls a function, such as a branch, perhaps through others."""
    definition = graph.as_graph_def()
    bodies = {each.signature.name: each.node_def for each in definition.library.function}
    for caller, nodes in [("", definition.node), *bodies.items()]:
        for node in nodes:
            called = [f.name for attr in node.attr.values() for f in (attr.func, *attr.list.func)]
            # Of a function that was optimised the name is longer.
            if any(name and function.startswith(name) for name in called) and caller != function:
                return _caller(caller, graph) if caller else str(node.name)
    return ""


def python_error_in(error: BaseException) -> str:
    """The Python error that the message of a session's error contains; empty if there is none."""
    _, found, after = str(error).rpartition(_PYTHON)
    lines = [line for line in after.splitlines() if re.match(r"[A-Za-z_][\w.]*(:|$)", line)]
    return lines[0] if found and lines else ""


def caller_in(error: BaseException) -> tuple[PluginInfo | None, str]:
    """The plugin of an object, such as a hook, that runs code of a library, and its method."""
    if not is_of_session(error):
        for frame, _ in traceback.walk_tb(error.__traceback__):
            info = plugin_of(frame.f_locals.get("self"))
            if is_foreign(info):
                return info, frame.f_code.co_name
    return None, ""


def _of_traceback(error: BaseException) -> list[Frame]:
    stack = traceback.extract_tb(error.__traceback__)
    return _owned(Frame(each.filename, each.lineno or 0, each.name) for each in stack)


def _of_text(text: str) -> list[Frame]:
    """The plugins' frames in a text, each once: a message may contain a stack twice."""
    found = (Frame(path, int(line), name) for path, line, name in _FRAME.findall(text))
    return list(dict.fromkeys(_owned(found)))


def _of_python(text: str) -> list[Frame]:
    """The plugins' frames in the traceback of Python that a message contains."""
    return _of_text(text.partition(_PYTHON)[2].partition("[[{{node")[0])


def _owned(frames: Iterable[Frame]) -> list[Frame]:
    return [frame for frame in frames if package_of_file(frame.path)]
