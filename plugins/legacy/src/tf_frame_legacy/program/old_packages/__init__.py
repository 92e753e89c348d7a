"""Functions of other packages that are gone, for `--with_old_packages`."""

from __future__ import annotations

import contextlib
import functools
import importlib

from tf_frame_legacy.names.families.old_packages import WITH_METHODS


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
