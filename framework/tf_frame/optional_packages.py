"""Asks for packages that only some commands need, before these commands do anything else."""

from __future__ import annotations

import importlib.util

from tf_frame.errors import ConfigError
from tf_frame.text import listed


def require_packages(needed_for: str, *modules: str, install: str) -> None:
    """Raises a `ConfigError` if a module is not installed; imports none.

    Args:
      needed_for: the option or command, for the message.
      modules: names of modules; of one inside a package, the package is imported.
      install: the words after `pip install`.
    """
    missing = [name for name in modules if not _is_installed(name)]
    if missing:
        names = f"{listed(missing)}, which {'is' if len(missing) == 1 else 'are'}"
        raise ConfigError(f"{needed_for} needs {names} not installed: pip install {install}")


def _is_installed(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:  # Its package is missing.
        return False
