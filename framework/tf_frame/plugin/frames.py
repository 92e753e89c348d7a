"""Finds the stack frames in plugins' code that led to an exception or an operation of a graph.

The traceback of a session's error has no such frames. The error names an operation that the plugin
made earlier; or the message has the traceback of a `tf.py_function` or a generator of the input.
"""

from __future__ import annotations

import contextlib
import linecache
import os
import re
import traceback
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from tf_frame.plugin.find import PluginInfo
from tf_frame.plugin.origin import find_owner, find_package, is_foreign

# A frame in a text, as TensorFlow writes the frames of operations and of a data set's functions.
_FRAME = re.compile(r'File "([^"\n]+)", line (\d+), in ([^\s\n]+)')
# The operation of a failed run, as a prepared call and as `Session.run` name it.
_NODE = re.compile(r"\{\{node ([^}]+)\}\}")
_FUNCTION = re.compile(r"\{\{function_node ([^}]+)\}\}")
# A file of an installed library.
_INSTALLED = re.compile(r"[/\\](?:site|dist)-packages[/\\]")
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
        package = find_package(self.path)
        return f"{package[1] if package else self.path}, line {self.line}"

    def __str__(self) -> str:
        code = linecache.getline(self.path, self.line).strip()
        place = f'  File "{self.path}", line {self.line}, in {self.function}'
        return f"{place}\n    {code}" if code else place


class Made(NamedTuple):
    """A failed operation, and the frames of the plugin that made it.

    The name of the operation is empty if Python code failed.
    """

    operation: str
    frames: Sequence[Frame]


def is_session_error(error: BaseException) -> bool:
    """Returns whether an exception is one of `tf.errors`; TensorFlow need not be imported."""
    return hasattr(error, "error_code") and hasattr(error, "node_def")


def find_plugin_code(error: BaseException) -> Made:
    """Returns the frames of plugins' code in an exception, outermost first; there may be none."""
    text = str(error)
    if not is_session_error(error):
        frames = _traceback_frames(error)
        # AutoGraph runs a converted copy of a function, and names the original in the message.
        originals = [frame for frame in _frames_in_text(text) if frame not in frames]
        return Made("", [*frames, *originals])
    if type(error).__name__ in _OF_MACHINES:
        return Made("", [])
    node = _NODE.search(text)
    if frames := _python_frames(text):
        return Made("", frames)
    if node and (frames := _frames_in_text(text)):
        return Made(node[1], frames)
    return Made("", _traceback_frames(error))


def find_failed_operation(error: BaseException, graph: Any) -> Made | None:
    """Finds the operation that an error of a session names, and the lines that made the operation.

    The message of `Session.run` has the lines, the message of a prepared call has not. Neither
    names the operation of the model that a gradient was made for.
    """
    text = str(error)
    not_of_graph = not is_session_error(error) or type(error).__name__ in _OF_MACHINES
    if not_of_graph or _python_frames(text):
        return None
    names = [*_NODE.findall(text), *(_find_call(name, graph) for name in _FUNCTION.findall(text))]
    for name in names:
        with contextlib.suppress(KeyError):
            operation = graph.get_operation_by_name(name)
            while operation is not None:
                stack = operation.traceback
                frames = _plugin_frames(Frame(f.filename, f.lineno, f.name) for f in stack)
                if frames:
                    return Made(operation.name, frames)
                operation = operation._original_op
    return None


def _find_call(function: str, graph: Any) -> str:
    """Returns the operation of a graph that calls a function, perhaps through other functions."""
    definition = graph.as_graph_def()
    bodies = {body.signature.name: body.node_def for body in definition.library.function}
    for caller, nodes in [("", definition.node), *bodies.items()]:
        for node in nodes:
            called = [f.name for attr in node.attr.values() for f in (attr.func, *attr.list.func)]
            # An optimised function has a longer name.
            if any(name and function.startswith(name) for name in called) and caller != function:
                return _find_call(caller, graph) if caller else str(node.name)
    return ""


def find_python_error(error: BaseException) -> str:
    """Returns the Python error in the message of a session's error; empty if there is none."""
    _, heading, after = str(error).rpartition(_PYTHON)
    lines = [line for line in after.splitlines() if re.match(r"[A-Za-z_][\w.]*(:|$)", line)]
    return lines[0] if heading and lines else ""


def find_python_place(error: BaseException) -> str:
    """Returns file and line of the Python code in the message of a session's error; may be empty.

    The place is the last one outside installed libraries, else the function that TensorFlow called.
    """
    found = _FRAME.findall(_python_text(str(error)))
    frames = [Frame(path, int(line), name) for path, line, name in found]
    called = [frame for frame in frames if f"{os.sep}tensorflow{os.sep}" not in frame.path]
    own = [frame for frame in called if not _INSTALLED.search(frame.path)]
    return next((frame.short for frame in [*own[-1:], *called]), "")


def find_caller(error: BaseException) -> tuple[PluginInfo | None, str]:
    """Returns the plugin and the method of an object that runs a library's code, such as a hook.

    The code of the library is in a base class of the object.
    """
    if not is_session_error(error):
        for frame, _ in traceback.walk_tb(error.__traceback__):
            info = find_owner(frame.f_locals.get("self"))
            if is_foreign(info):
                return info, frame.f_code.co_name
    return None, ""


def _traceback_frames(error: BaseException) -> list[Frame]:
    stack = traceback.extract_tb(error.__traceback__)
    return _plugin_frames(Frame(line.filename, line.lineno or 0, line.name) for line in stack)


def _frames_in_text(text: str) -> list[Frame]:
    """Returns each of the plugins' frames in a text once: a message may contain a stack twice."""
    frames = (Frame(path, int(line), name) for path, line, name in _FRAME.findall(text))
    return list(dict.fromkeys(_plugin_frames(frames)))


def _python_frames(text: str) -> list[Frame]:
    """Returns the plugins' frames in the Python traceback of a message."""
    return _frames_in_text(_python_text(text))


def _python_text(text: str) -> str:
    """Returns the Python traceback in a message of TensorFlow."""
    return text.partition(_PYTHON)[2].partition("[[{{node")[0]


def _plugin_frames(frames: Iterable[Frame]) -> list[Frame]:
    return [frame for frame in frames if find_package(frame.path)]
