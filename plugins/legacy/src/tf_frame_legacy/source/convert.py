"""`tf-frame legacy convert`: rewrites an old program so that it runs without the import hook."""

from __future__ import annotations

import ast
import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tf_frame.command_line.folder_command import folder_command
from tf_frame.command_line.screen import report
from tf_frame.config.option import Option
from tf_frame.errors import EXIT_OK, ConfigError, writing
from tf_frame.optional_packages import require_packages
from tf_frame.text import short
from tf_frame_legacy.source.check import without_collection
from tf_frame_legacy.source.lookup import is_tensorflow
from tf_frame_legacy.source.old_code import defines_methods, packages_to_restore
from tf_frame_legacy.source.plan import Left, Plan, Program, plan
from tf_frame_legacy.source.project import Project, Source
from tf_frame_legacy.source.resolve import Names, resolve

_USAGE = """usage: tf-frame legacy convert DIR --output NEW

Writes the program in DIR to NEW with the names that it runs by today: tensorflow.compat.v1 and
tf_frame_legacy. Scripts switch to TensorFlow 1 where they start. Comments, layout and line ends
stay; files without such names are copied. DIR is only read, and NEW has to be new or empty. The
lines that stay as they are, since nobody offers their names, are listed."""
_OPTIONS = (Option("output", str | None, None, "the folder to write"),)
_STARTERS = (ast.For, ast.While, ast.With)


@folder_command(
    name="tf-frame legacy convert", usage=_USAGE, options=_OPTIONS, takes="one folder, DIR"
)
def main(folders: Sequence[str], values: Mapping[str, Any]) -> int:
    """Converts a folder and prints the lines that stay; returns the exit code."""
    if not values["output"]:
        raise ConfigError("tf-frame legacy convert takes --output NEW, a new folder")
    changed, copied, left = convert(folders[0], os.path.expanduser(values["output"]))
    report(f"wrote {values['output']}: {changed} files changed, {copied} copied")
    if left:
        report("lines that stay as they are:")
    for path, line, text in left:
        report(f"  {path}:{line}: {text}")
    return EXIT_OK


@without_collection()
def convert(folder: str, output: str) -> tuple[int, int, list[Left]]:
    """Writes a program to a new folder, with the names of today; all or nothing.

    Returns:
      The numbers of files changed and copied, and the lines that stay as they are.

    Raises:
      ConfigError: a folder is missing, not empty or inside the other, or libcst is not installed.
    """
    target = Path(output).absolute()
    _check(Path(folder), target)
    project = Project(folder)
    plans = dict(_plans(project, resolve(project)))
    _write_whole(project, plans, target)
    unread = [Left(s.path, s.line, s.error) for s in project.sources if s.error]
    changed = sum(not planned.is_empty for planned in plans.values())
    left = sorted({*unread, *(line for planned in plans.values() for line in planned.left)})
    return changed, len(project.sources) + len(project.others) - changed, left


def _check(folder: Path, target: Path) -> None:
    require_packages("tf-frame legacy convert", "libcst", install="'tf-frame-legacy[convert]'")
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise ConfigError(f"{target} exists and is not empty; give another --output")
    if target.resolve().is_relative_to(folder.resolve()):
        raise ConfigError(f"{target} is inside {folder}, which is only read; give another --output")


def _plans(project: Project, files: Mapping[str, Names]) -> list[tuple[str, Plan]]:
    imported = {path for names in files.values() for own in names.own.values() for path in own}
    program = Program(
        needing=frozenset(path for path in files if _needs_tensorflow(path, files, set())),
        restored=packages_to_restore(project.sources, files),
        defines_methods=defines_methods(project.sources),
    )
    return [
        (
            source.path,
            plan(
                source,
                files[source.path],
                program,
                switches_on=source.path in program.needing and _is_script(source, imported),
            ),
        )
        for source in project.sources
        if source.path in files
    ]


def _needs_tensorflow(path: str, files: Mapping[str, Names], seen: set[str]) -> bool:
    """Returns whether a file imports TensorFlow, by itself or by the files that it imports."""
    if path in seen or path not in files:
        return False
    seen.add(path)
    names = files[path]
    own = {imported for paths in names.own.values() for imported in paths}
    is_direct = any(is_tensorflow(binding.target) for binding in names.bindings)
    return is_direct or any(_needs_tensorflow(each, files, seen) for each in own)


def _is_script(source: Source, imported: set[str]) -> bool:
    """Returns whether a file is started: it says so, or it does something and nobody imports it."""
    assert source.tree is not None
    body = source.tree.body
    if any(isinstance(s, ast.If) and "__name__" in ast.unparse(s.test) for s in body):
        return True
    acts = any(
        isinstance(s, _STARTERS) or (isinstance(s, ast.Expr) and isinstance(s.value, ast.Call))
        for s in body
    )
    return acts and source.path not in imported


def _write_whole(project: Project, plans: Mapping[str, Plan], target: Path) -> None:
    """Writes the new folder beside its place and renames it at the end."""
    with writing(short(target)):
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{target.name}-", dir=target.parent) as staging:
            _write(project, plans, Path(staging, target.name))
            Path(staging, target.name).rename(target)


def _write(project: Project, plans: Mapping[str, Plan], target: Path) -> None:
    from tf_frame_legacy.source.rewrite import rewrite

    target.mkdir()
    for path in [*(source.path for source in project.sources), *project.others]:
        old, new = Path(project.folder, path), target / path
        new.parent.mkdir(parents=True, exist_ok=True)
        # A link to a folder, or to nothing, stays one.
        shutil.copy2(old, new, follow_symlinks=old.is_file())
        if path in plans and not plans[path].is_empty:
            new.write_bytes(rewrite(old.read_bytes(), plans[path]))
