"""A new virtual environment with distributions of a local folder."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path


def make_environment(
    folder: Path, dist: Path, names: Sequence[str], *, python: str = sys.executable
) -> Path:
    """Installs wheels as a user's pip does, and returns the environment's Python.

    Our own distributions come from the folder alone, because an index may have packages of these
    names by somebody else; what they need comes from the index.

    Args:
      folder: of the environment, which is made.
      dist: the folder with the wheels.
      names: distributions, with all of ours that they need.
      python: the Python to use.
    """
    # With this variable pip would take packages of another place for installed ones.
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    own = folder / "bin" / "python"

    def call(*words: str) -> None:
        subprocess.run(words, check=True, env=clean)

    call(python, "-m", "venv", str(folder))
    pip = (str(own), "-m", "pip", "--disable-pip-version-check")
    from_folder = ("--no-index", "--no-deps", "--find-links", str(dist), "--only-binary", ":all:")
    call(*pip, "install", "--quiet", *from_folder, *names)
    call(*pip, "install", "--quiet", *names)
    call(*pip, "check")
    return own
