"""Finds the side effects of loading a plugin, in a fresh process."""

from __future__ import annotations

import inspect
import json
import os
import subprocess
import sys
from collections.abc import Iterable
from typing import Any

from tf_frame.testing.conformance import probe

# Class -> name of the effect -> more about it; a class that was examined is not loaded again.
_FOUND: dict[type, dict[str, str]] = {}
_TIMEOUT_SECS = 300


def effects_of_loading(cls: type) -> dict[str, str]:
    """Returns the side effects of importing a plugin and reading its options.

    Args:
      cls: the class of the plugin.

    Returns:
      Name of the effect, one of `probe.EFFECTS` or `tensorflow` (its import) or `error` -> more
      about it; empty if there are none.
    """
    examine([cls])
    return _FOUND[cls]


def examine(classes: Iterable[type]) -> None:
    """Loads many plugins with one start of Python; `effects_of_loading` then has the results.

    Args:
      classes: the classes of the plugins.
    """
    targets = {_target(cls): cls for cls in classes if cls not in _FOUND}
    if not targets:
        return
    # By its path: as a module of its package it would import TensorFlow.
    ended = subprocess.run(
        [sys.executable, str(probe.__file__)],
        input=json.dumps({target: _file(cls) for target, cls in targets.items()}),
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        timeout=_TIMEOUT_SECS,
        check=False,
    )
    if ended.returncode:
        raise RuntimeError(f"the process that loads plugins failed:\n{ended.stderr[-2000:]}")
    found: dict[str, Any] = json.loads(ended.stdout)
    _FOUND.update({cls: found[target] for target, cls in targets.items()})


def _target(cls: type) -> str:
    return f"{cls.__module__}:{cls.__qualname__}"


def _file(cls: type) -> str:
    try:
        return inspect.getsourcefile(cls) or ""
    except (OSError, TypeError):
        return ""
