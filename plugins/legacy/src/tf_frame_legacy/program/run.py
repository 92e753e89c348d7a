"""Runs the main file of an old program as `python` would, with the imports of its time."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import sys
import threading
import types
from collections.abc import Iterator, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path

from tf_frame.errors import ConfigError
from tf_frame.text import brief
from tf_frame_legacy.program.importing import Imports
from tf_frame_legacy.program.project import Project, is_installed

_OF_DISTRIBUTIONS = ("setup.py", "pyproject.toml", "setup.cfg")


@dataclasses.dataclass(frozen=True)
class Program:
    """A main file with its words.

    Attributes:
      file: the path, as `sys.argv[0]`.
      arguments: the other words of `sys.argv`.
      folder: the first folder on the path of imports.
      project: the files that belong to the program.
      spec: how the main module was found, for a module; None for a script.
    """

    file: str
    arguments: Sequence[str]
    folder: str
    project: Project
    spec: ModuleSpec | None = None

    def run(self, imports: Imports) -> None:
        """Executes the file as `__main__`; whatever it raises goes on."""
        main = types.ModuleType("__main__")
        main.__dict__.update(
            __file__=self.file,
            __builtins__=imports.builtins,
            __spec__=self.spec,
            __package__=self.spec.parent if self.spec else None,
        )
        argv, threads = [self.file, *self.arguments], set(threading.enumerate())
        with imports.installed(), _first_on_path(self.folder), _in_place(main, argv):
            source = Path(self.file).read_bytes()
            exec(imports.compiled(source, self.file), main.__dict__)
            # As at the end of a process; the threads may still import modules of the program.
            for thread in set(threading.enumerate()) - threads:
                if not thread.daemon:
                    thread.join()


def find_script(path: str, arguments: Sequence[str]) -> Program:
    """Returns the program of `python PATH ARGUMENTS`; a folder runs its `__main__.py`.

    Raises:
      ConfigError: there is no such file.
    """
    is_folder = os.path.isdir(path)
    file = os.path.join(path, "__main__.py") if is_folder else path
    if not os.path.isfile(file):
        raise ConfigError(f"no script {brief(file)}")
    folder = path if is_folder else os.path.dirname(os.path.realpath(path))
    folders = [os.path.realpath(folder), *installed_copies(Path(os.path.realpath(folder)))]
    return Program(file, arguments, folder, Project(folders))


def find_module(name: str, arguments: Sequence[str]) -> Program:
    """Returns the program of `python -m NAME ARGUMENTS`.

    Raises:
      ConfigError: there is no such module.
    """
    with _first_on_path(os.getcwd()):
        package = _find_spec(name.partition(".")[0])
        spec = _find_spec(name)
        if spec is not None and spec.submodule_search_locations is not None:
            spec = _find_spec(f"{name}.__main__")
    if package is None or spec is None or spec.origin is None:
        raise ConfigError(f"no module {brief(name)}")
    folders = map(os.path.realpath, package.submodule_search_locations or ())
    return Program(spec.origin, arguments, os.getcwd(), Project(folders), spec)


def _find_spec(name: str) -> ModuleSpec | None:
    """Returns the spec of a module, without running the packages around it; None if missing."""
    parts = name.split(".")
    spec, folders = None, None
    for number, _ in enumerate(parts, 1):
        spec = PathFinder.find_spec(".".join(parts[:number]), folders)
        if spec is None:
            return None
        folders = spec.submodule_search_locations
    return spec


def installed_copies(folder: Path) -> Iterator[str]:
    """Yields the folders of the program's packages that are installed, as by `pip install .`.

    Args:
      folder: the folder of the script; a `setup.py` there or above tells where the packages are.
    """
    for root in (folder, *folder.parents):
        if any((root / name).is_file() for name in _OF_DISTRIBUTIONS):
            packages = (*root.glob("*/__init__.py"), *root.glob("src/*/__init__.py"))
            for name in {package.parent.name for package in packages}:
                spec = _find_spec(name)
                for location in (spec and spec.submodule_search_locations) or ():
                    if is_installed(Path(location)):
                        yield os.path.realpath(location)
            return


@contextlib.contextmanager
def _in_place(main: types.ModuleType, argv: list[str]) -> Iterator[None]:
    main_before, argv_before = sys.modules["__main__"], sys.argv
    sys.modules["__main__"], sys.argv = main, argv
    try:
        yield
    finally:
        sys.modules["__main__"], sys.argv = main_before, argv_before


@contextlib.contextmanager
def _first_on_path(folder: str) -> Iterator[None]:
    path_before = list(sys.path)
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        sys.path[:] = path_before
