"""The arguments that a `setup.py` passes to setuptools, without building anything."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any
from unittest import mock

import setuptools

ROOT = Path(__file__).resolve().parents[2]


def distributions() -> dict[str, Path]:
    """Returns the folder of each distribution of this checkout by name, tf-frame first."""
    plugins = sorted(path.parent for path in ROOT.glob("plugins/*/setup.py"))
    return {"tf-frame": ROOT, **{f"tf-frame-{folder.name}": folder for folder in plugins}}


def setup_arguments(folder: Path) -> dict[str, Any]:
    """Returns the arguments of `setup` in the `setup.py` of a folder."""
    with mock.patch.object(setuptools, "setup") as setup:
        runpy.run_path(str(folder / "setup.py"))
    return dict(setup.call_args.kwargs)
