"""Finds the plugin, the method and the line of code that an exception comes from.

An exception in a plugin keeps its type, as a script expects. `calling` only notes the plugin and
the method on the exception. The command line makes a `Fault` of the exception and prints the fault
instead of a traceback, which would mostly consist of TensorFlow's frames.
"""

from __future__ import annotations

import contextlib
import dataclasses
import re
from collections.abc import Sequence
from typing import Any

from tf_frame.errors import short_reason
from tf_frame.plugin.find import PluginInfo
from tf_frame.plugin.frames import (
    Frame,
    find_caller,
    find_failed_operation,
    find_plugin_code,
    find_python_error,
    is_session_error,
)
from tf_frame.plugin.imports import (
    missing_module_remedy,
    missing_name_hint,
    syntax_error_text,
)
from tf_frame.plugin.origin import (
    find_method,
    find_package,
    find_plugin_at_line,
    is_foreign,
    loaded_plugins,
)
from tf_frame.text import short

# Attributes of an exception with facts about its origin.
_CALL, _STEP, _HINT, _MADE = (f"_tf_frame_{name}" for name in ("call", "step", "hint", "made"))
# The most characters of an exception's text in a message; --verbosity debug shows all.
_LONGEST = 600
# A control sequence of a terminal, such as for bold text.
_ESCAPE = re.compile(r"\x1b\[[\d;]*m")
# A part of a message of TensorFlow that does not help in a graph -> a better hint.
_HINTS = {
    "capture an EagerTensor without building a function": "objects of a constructor are no part of "
    "the graph: make variables, tensors and data sets in the method that builds it",
    "symbolic `tf.Tensor` as a Python `bool`": "the value is known only when the session runs: "
    "choose by tf.cond or tf.where",
    "has no attribute 'numpy'": "the value is known only when the session runs: compute with "
    "operations of TensorFlow, or in tf.py_func",
    "You must feed a value for placeholder tensor": "nothing is fed: build() gets the batch of the "
    "input as features and labels; use these in place of tf.placeholder",
}
_OPERATION = re.compile(r"'\{\{node ([^}]+)\}\} = [^']*'")


@dataclasses.dataclass(frozen=True)
class Fault:
    """An error in the code of a plugin.

    Attributes:
      headline: plugin and package, method, step, error, file and line: one line.
      frames: the frames of the plugin's own code, outermost first.
      hint: advice; may be empty.
    """

    headline: str
    frames: Sequence[Frame]
    hint: str = ""


class calling:
    """A context that notes on an exception the method that was called; no plugin: no note."""

    __slots__ = ("_call",)

    def __init__(self, plugin: PluginInfo | None, method: str) -> None:
        self._call = plugin, method

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: BaseException | None, stack: Any) -> None:
        if error is None or self._call[0] is None or isinstance(error, KeyboardInterrupt):
            return
        # The outermost method of the innermost plugin: a plugin may call its own methods.
        first, _ = getattr(error, _CALL, self._call)
        if first == self._call[0]:
            _set(error, _CALL, self._call)


def note_failed_step(error: BaseException, step: int, graph: Any) -> None:
    """Notes the global step after the failed one, and where the failed operation was made."""
    _note(error, _STEP, step)
    _note(error, _MADE, find_failed_operation(error, graph))


def note_hint(error: BaseException, hint: str) -> None:
    """Notes advice for the author of a plugin on an exception."""
    _note(error, _HINT, hint)


def find_fault(error: BaseException) -> Fault | None:
    """Returns the fault that an exception means; None if it comes from no plugin's code."""
    called, method = getattr(error, _CALL, (None, ""))
    operation, frames = getattr(error, _MADE, None) or find_plugin_code(error)
    if not frames and not is_foreign(called):
        called, method = find_caller(error)
    if not frames and called is None:
        return None
    plugin, method = _plugin_and_method(frames, called, method)
    if not frames and called is not None:
        place = find_method(called, method)
        frames = [Frame(*place, method)] if place else []
    step = getattr(error, _STEP, None)
    parts = [
        f"at step {step}, " if step is not None else "",
        f"the operation {operation!r} of " if operation else "",
        "a lambda" if method == "<lambda>" else f"{method}()",
        f" of {plugin} raised {_describe(error)}",
        f" ({frames[-1].short})" if frames else "",
    ]
    return Fault("".join(parts), frames, _hint(error, frames, called))


def _note(error: BaseException, name: str, value: Any) -> None:
    if not hasattr(error, name):
        _set(error, name, value)


def _set(error: BaseException, name: str, value: Any) -> None:
    with contextlib.suppress(AttributeError, TypeError):  # An error without such attributes.
        setattr(error, name, value)


def _plugin_and_method(
    frames: Sequence[Frame], called: PluginInfo | None, method: str
) -> tuple[str, str]:
    """Names the plugin of the innermost frame in a plugin's class, and its outermost method."""
    plugins = [find_plugin_at_line(frame.path, frame.line, called) for frame in frames]
    present = [plugin for plugin in plugins if plugin is not None]
    if present:
        plugin = present[-1]
        function = frames[plugins.index(plugin)].function
        return plugin.described, method if plugin == called else function
    if called is not None and is_foreign(called):
        return called.described, method
    info = _package(frames, None)
    names = [p.described for p in loaded_plugins() if p.distribution == info.distribution]
    name = names[0] if len(names) == 1 else f"{info.distribution} {info.version}"
    return name, frames[0].function


def _package(frames: Sequence[Frame], called: PluginInfo | None) -> PluginInfo:
    """Returns a plugin of the package at fault."""
    package = find_package(frames[-1].path) if frames else None
    info = package[0] if package else called
    assert info is not None, "a fault has frames of a package, or a call of a plugin"
    return info


def _hint(error: BaseException, frames: Sequence[Frame], called: PluginInfo | None) -> str:
    name_hint = missing_name_hint(error)
    if isinstance(error, ModuleNotFoundError) and error.name and not name_hint:
        return missing_module_remedy(error.name, _package(frames, called).distribution)
    cause = error.__cause__
    because = "" if cause is None else f"it was raised because of {_describe(cause)}"
    hints = [hint for words, hint in _HINTS.items() if words in str(error)]
    hints.append(name_hint)
    return "\n".join(filter(None, [because, *hints, getattr(error, _HINT, "")]))


def _describe(error: BaseException) -> str:
    """Returns type and message of an exception in one line."""
    text, name = str(error), type(error).__name__
    if "in user code:" in text:  # AutoGraph's message ends with the error.
        return text.strip().splitlines()[-1].strip()
    if isinstance(error, SyntaxError) and error.filename:
        return syntax_error_text(error)
    if is_session_error(error):
        return find_python_error(error) or f"{name}: {short_reason(error)}"
    if isinstance(error, OSError):
        return f"{name}: {short_reason(error)}"
    # TensorFlow describes an operation that cannot be made by all its attributes.
    text = _ESCAPE.sub("", _OPERATION.sub(r"\1", " ".join(text.split())))
    return f"{name}: {short(text, _LONGEST)}".rstrip(": ")
