"""Loads plugins in fresh processes, and prints the side effects of each as JSON.

Run by its path, with a list of `module:attribute` and files as JSON on standard input. Each plugin
is loaded in a child of its own, forked from a process that has imported none of them. A plugin that
imports TensorFlow is loaded once more in a child that had TensorFlow before, so that the effects of
TensorFlow's own import are not taken for those of the plugin.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import importlib.util
import json
import logging
import operator
import os
import random
import sys
import tempfile
import traceback
from typing import Any

import numpy as np

# The loggers that every program shares.
_LOGGERS = ("", "tensorflow", "absl", "tf_frame")
# In the order of the report.
EFFECTS = {
    "output": "writes to standard output",
    "environment": "changes the environment",
    "logging": "changes handlers or levels of logging",
    "seeds": "sets or uses the seeds of Python's or NumPy's random numbers",
    "tensorflow_seed": "sets the seed of TensorFlow",
    "operations": "makes operations or tensors",
    "sessions": "starts a session",
    "behaviour": "switches the behaviour of TensorFlow, such as by disable_v2_behavior()",
}


def main() -> None:
    """Loads each plugin twice at most, and prints plugin -> effects."""
    # Else the modules beside this file could hide those of a plugin.
    sys.path.remove(os.path.dirname(os.path.abspath(__file__)))
    plugins = json.load(sys.stdin)
    found = {target: _in_child(target, path) for target, path in plugins.items()}
    with_tensorflow = [target for target, effects in found.items() if "tensorflow" in effects]
    if with_tensorflow:
        import tensorflow.compat.v1 as tf  # noqa: F401 - the children have it then

        for target in with_tensorflow:
            again = _in_child(target, plugins[target])
            found[target] = {**again, "tensorflow": found[target]["tensorflow"]}
    json.dump(found, sys.stdout)


def _in_child(target: str, path: str) -> dict[str, str]:
    """The effects of loading a plugin in a fork of this process."""
    with tempfile.TemporaryFile("w+") as results, tempfile.TemporaryFile("w+") as output:
        child = os.fork()
        if child == 0:
            _report(target, path, results, output)
        os.waitpid(child, 0)
        results.seek(0)
        text = results.read()
    # Without a text the child was killed, such as by a fault in a library.
    effects: dict[str, str] = json.loads(text) if text else {"error": "the process ended"}
    return effects


def _report(target: str, path: str, results: Any, output: Any) -> None:
    """Writes the effects, and ends the process."""
    sys.stdout.flush()
    os.dup2(output.fileno(), 1)
    try:
        effects = _effects(target, path)
    except BaseException as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{os.path.basename(place.filename)}, line {place.lineno}"
        effects = {"error": f"{type(error).__name__}: {error} ({where})"}
    sys.stdout.flush()
    if written := os.fstat(output.fileno()).st_size:
        output.seek(0)
        effects["output"] = f"{written} bytes: {output.readline().strip()[:80]!r}"
    json.dump(effects, results)
    results.flush()
    os._exit(0)


class _ImportsTensorFlowError(BaseException):
    """Ends the loading of a plugin that begins to import TensorFlow."""


class _Trap:
    """A finder that ends the import of TensorFlow, which takes seconds."""

    @staticmethod
    def find_spec(name: str, *_: Any) -> None:
        if name == "tensorflow":
            raise _ImportsTensorFlowError


def _effects(target: str, path: str) -> dict[str, str]:
    had_tensorflow = "tensorflow" in sys.modules
    if not had_tensorflow:
        sys.meta_path.insert(0, _Trap)
    sessions = _counted_sessions() if had_tensorflow else []
    before = _state()
    try:
        _load(target, path)
    except _ImportsTensorFlowError:
        return {"tensorflow": "is imported with the module"}
    after = _state()
    effects = {name: _difference(before[name], after[name]) for name in before}
    if had_tensorflow:
        effects["operations"] = _made_operations()
        effects["sessions"] = f"{len(sessions)} of them" if sessions else ""
    return {name: text for name, text in effects.items() if text}


def _load(target: str, path: str) -> None:
    """Imports the class of a plugin and reads its options, as `--help` does.

    Another check examines the class and its options: here they may be wrong.
    """
    module, _, attribute = target.partition(":")
    try:
        loaded = importlib.import_module(module)
    except ModuleNotFoundError as error:
        # Such as a module of tests, which pytest imports by its path.
        if not path or not f"{module}.".startswith(f"{error.name}."):
            raise
        spec = importlib.util.spec_from_file_location(module, path)
        assert spec is not None and spec.loader is not None, path
        loaded = importlib.util.module_from_spec(spec)
        sys.modules[module] = loaded
        spec.loader.exec_module(loaded)
    from tf_frame.config.option import options_of

    names = [name for name in attribute.split(".") if name != "<locals>"]
    with contextlib.suppress(Exception):
        options_of(functools.reduce(getattr, names, loaded).Params)


def _state() -> dict[str, Any]:
    """The state that a plugin may not change, by name of the effect."""
    state: dict[str, Any] = {
        "environment": dict(os.environ),
        "logging": {name or "root": _logging_of(name) for name in _LOGGERS},
        "seeds": {"random": repr(random.getstate()), "NumPy": repr(np.random.get_state())},
    }
    if "tensorflow" in sys.modules:
        import tensorflow.compat.v1 as tf

        state["tensorflow_seed"] = {"seed": tf.get_seed(None)}
        state["behaviour"] = {
            "eager execution": tf.executing_eagerly(),
            "resource variables": tf.resource_variables_enabled(),
            "control flow v2": tf.control_flow_v2_enabled(),
        }
    return state


def _logging_of(name: str) -> str:
    logger = logging.getLogger(name)
    return f"level {logger.level}, handlers {[type(each).__name__ for each in logger.handlers]}"


def _difference(before: dict[str, Any], after: dict[str, Any]) -> str:
    names = [n for n in {**before, **after} if before.get(n) != after.get(n)]
    return ", ".join(names)


def _counted_sessions() -> list[Any]:
    """A list that grows by each session that is made."""
    from tensorflow.python.client import session

    made: list[Any] = []
    construct = session.BaseSession.__init__

    @functools.wraps(construct)
    def counted(self: Any, *args: Any, **kwargs: Any) -> None:
        made.append(type(self))
        construct(self, *args, **kwargs)

    session.BaseSession.__init__ = counted
    return made


def _made_operations() -> str:
    """The operations of the default graph; of eager tensors only that some were made."""
    import tensorflow.compat.v1 as tf

    operations = tf.get_default_graph().get_operations()
    if operations:
        return ", ".join(op.name for op in operations[:3])
    threads = tf.config.threading
    try:
        # Refused once an eager tensor has been made; a number that is not set already.
        threads.set_inter_op_parallelism_threads(
            operator.add(threads.get_inter_op_parallelism_threads(), 1)
        )
    except RuntimeError:
        return "an eager tensor"
    return ""


if __name__ == "__main__":
    main()
