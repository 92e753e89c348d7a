"""A new virtual environment with distributions of a local folder."""

from __future__ import annotations

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
    subprocess.run([python, "-m", "venv", str(folder)], check=True)
    own = folder / "bin" / "python"
    pip = [str(own), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    from_folder = ("--no-index", "--no-deps", "--find-links", str(dist), "--only-binary", ":all:")
    subprocess.run([*pip, *from_folder, *names], check=True)
    subprocess.run([*pip, *names], check=True)
    subprocess.run([str(own), "-m", "pip", "check"], check=True)
    return own
