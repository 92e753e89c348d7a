"""Tells which files belong to an old program, and so see TensorFlow 1."""

from __future__ import annotations

import functools
import os
import sys
import sysconfig
from collections.abc import Iterable
from pathlib import Path

import tf_frame
import tf_frame_legacy

_INSTALLED = {"site-packages", "dist-packages"}


class Project:
    """The files of a program: all that are neither installed, nor Python's, nor tf-frame's.

    Args:
      folders: installed folders that belong to the program nevertheless.
    """

    def __init__(self, folders: Iterable[str] = ()) -> None:
        self._folders = tuple(map(Path, folders))
        self.contains = functools.cache(self._contains)

    def _contains(self, path: str) -> bool:
        file = Path(os.path.realpath(path))
        if any(map(file.is_relative_to, _foreign_folders())):
            return False
        for folder in self._folders:
            if file.is_relative_to(folder):
                return not is_installed(file.relative_to(folder))
        return not is_installed(file) and not any(map(_is_target, map(str, file.parents)))


def is_installed(file: Path) -> bool:
    """Returns whether a path lies in a folder for installed packages."""
    return not _INSTALLED.isdisjoint(file.parts)


@functools.cache
def _is_target(folder: str) -> bool:
    """Returns whether `pip install --target` filled a folder of the path, which it describes there.

    The first folder of the path is the program's.
    """
    if folder not in map(os.path.realpath, sys.path[1:]):
        return False
    return any(name.endswith(".dist-info") for name in os.listdir(folder))


@functools.cache
def _foreign_folders() -> tuple[Path, ...]:
    """Returns the folders of the standard library and of tf-frame with its plugins."""
    standard = {sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib")}
    own = {_folder(tf_frame), *map(os.path.dirname, tf_frame_legacy.__path__)}
    plugins = Path(_folder(tf_frame)).parents[1] / "plugins"
    own |= {str(path) for path in plugins.glob("*/src")}
    return tuple(Path(os.path.realpath(folder)) for folder in standard | own)


def _folder(package: object) -> str:
    return os.path.dirname(os.path.abspath(str(getattr(package, "__file__", ""))))
