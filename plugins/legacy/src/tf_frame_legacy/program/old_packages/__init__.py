"""Functions of other packages that are gone, for `--with_old_packages`."""

from __future__ import annotations

import contextlib
import functools
import importlib

# Packages whose classes and functions get back what they had, for all modules.
WITH_METHODS = {
    "PIL": "pictures",
    "cv2": "drawings",
    "easydict": "settings",
    "h5py": "stored",
    "librosa": "sounds",
    "matplotlib": "plots",
    "networkx": "networks",
    "pandas": "tables",
    "tensorflow": "dimensions",
}


def restore_methods(*packages: str) -> None:
    """Gives the classes of packages the methods that they had; all in the process see them.

    Args:
      packages: names of packages; without effect for one that is not installed.
    """
    for package in packages:
        _restore(package)


@functools.cache
def _restore(package: str) -> None:
    with contextlib.suppress(ModuleNotFoundError):
        importlib.import_module(f"{__name__}.{WITH_METHODS[package]}").restore_methods()
