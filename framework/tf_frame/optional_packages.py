"""Asks for packages that only some commands need, before these commands do anything else."""

from __future__ import annotations

import importlib.util

from tf_frame.errors import ConfigError
from tf_frame.text import listed


def require_packages(needed_for: str, *modules: str, install: str) -> None:
    """Raises a `ConfigError` if a module is not installed; imports none.

    Args:
      needed_for: the option or command, for the message.
      modules: names of top-level modules.
      install: the words after `pip install`.
    """
    missing = [name for name in modules if importlib.util.find_spec(name) is None]
    if missing:
        names = f"{listed(missing)}, which {'is' if len(missing) == 1 else 'are'}"
        raise ConfigError(f"{needed_for} needs {names} not installed: pip install {install}")
