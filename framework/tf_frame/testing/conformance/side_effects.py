"""Finds the side effects of loading a plugin, in a fresh process.

The fresh process runs this module as a script, and reads a JSON object from standard input:
`module:class` -> source file. The process forks a child for each plugin, and only the child
loads the plugin. A plugin that imports TensorFlow is loaded again in a child that already has
TensorFlow, so that the effects of TensorFlow's own import do not count.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import importlib.util
import inspect
import json
import logging
import operator
import os
import random
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Iterable
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
# Class -> name of the effect -> details; an examined class is not loaded again.
_KNOWN: dict[type, dict[str, str]] = {}
_TIMEOUT_SECS = 300


def loading_effects(cls: type) -> dict[str, str]:
    """Returns the side effects of importing the class of a plugin and reading its options.

    Returns:
      Name of the effect, one of `EFFECTS` or `tensorflow` (its import) or `error` -> details;
      empty if there are none.
    """
    examine([cls])
    return _KNOWN[cls]


def examine(classes: Iterable[type]) -> None:
    """Loads many plugins with one start of Python; `loading_effects` then has the results."""
    targets = {_target(cls): cls for cls in classes if cls not in _KNOWN}
    if not targets:
        return
    # By its path: a module of this package would import TensorFlow.
    process = subprocess.run(
        [sys.executable, __file__],
        input=json.dumps({target: _file(cls) for target, cls in targets.items()}),
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        timeout=_TIMEOUT_SECS,
        check=False,
    )
    if process.returncode:
        raise RuntimeError(f"the process that loads plugins failed:\n{process.stderr[-2000:]}")
    effects: dict[str, Any] = json.loads(process.stdout)
    _KNOWN.update({cls: effects[target] for target, cls in targets.items()})


def _target(cls: type) -> str:
    return f"{cls.__module__}:{cls.__qualname__}"


def _file(cls: type) -> str:
    try:
        return inspect.getsourcefile(cls) or ""
    except (OSError, TypeError):
        return ""


def main() -> None:
    """Loads each plugin twice at most, and prints plugin -> effects."""
    # Else the modules next to this file could hide modules of a plugin.
    sys.path.remove(os.path.dirname(os.path.abspath(__file__)))
    plugins = json.load(sys.stdin)
    results = {target: _in_child(target, path) for target, path in plugins.items()}
    with_tensorflow = [target for target, effects in results.items() if "tensorflow" in effects]
    if with_tensorflow:
        import tensorflow.compat.v1 as tf  # noqa: F401 - the children have it then

        for target in with_tensorflow:
            again = _in_child(target, plugins[target])
            results[target] = {**again, "tensorflow": results[target]["tensorflow"]}
    json.dump(results, sys.stdout)


def _in_child(target: str, path: str) -> dict[str, str]:
    """Returns the effects of loading a plugin in a fork of this process."""
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
    sessions = _count_sessions() if had_tensorflow else []
    before = _state()
    try:
        _load(target, path)
    except _ImportsTensorFlowError:
        return {"tensorflow": "is imported with the module"}
    after = _state()
    effects = {name: _difference(before[name], after[name]) for name in before}
    if had_tensorflow:
        effects["operations"] = _describe_operations()
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
    from tf_frame.config.option import declared_options

    names = [name for name in attribute.split(".") if name != "<locals>"]
    with contextlib.suppress(Exception):
        declared_options(functools.reduce(getattr, names, loaded).Params)


def _state() -> dict[str, Any]:
    """Returns name of the effect -> the state that a plugin may not change."""
    state: dict[str, Any] = {
        "environment": dict(os.environ),
        "logging": {name or "root": _describe_logger(name) for name in _LOGGERS},
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


def _describe_logger(name: str) -> str:
    logger = logging.getLogger(name)
    return (
        f"level {logger.level}, handlers {[type(handler).__name__ for handler in logger.handlers]}"
    )


def _difference(before: dict[str, Any], after: dict[str, Any]) -> str:
    names = [n for n in {**before, **after} if before.get(n) != after.get(n)]
    return ", ".join(names)


def _count_sessions() -> list[Any]:
    """Returns a list that grows by each session that is made."""
    from tensorflow.python.client import session

    sessions: list[Any] = []
    construct = session.BaseSession.__init__

    @functools.wraps(construct)
    def counted(self: Any, *args: Any, **kwargs: Any) -> None:
        sessions.append(type(self))
        construct(self, *args, **kwargs)

    session.BaseSession.__init__ = counted
    return sessions


def _describe_operations() -> str:
    """Names operations of the default graph, or says that an eager tensor was made."""
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
