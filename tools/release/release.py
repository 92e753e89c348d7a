"""Builds the sdists and wheels of all distributions, checks them, and lists their sizes.

    python tools/release/release.py                          into dist/
    python tools/release/release.py --twice                  and again elsewhere: the same bytes?
    python tools/release/release.py --only tf-frame-sweep --output /tmp/dist

It builds a copy of the files that git tracks, without tests, so that neither a `build` folder of
setuptools nor a stray file gets into a wheel. Times are those of the last commit, unless
SOURCE_DATE_EPOCH is set. The packages in requirements.txt have to be installed.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from archives import normalise
from contents import problems
from metadata import ROOT, distributions

# Of tf-frame itself, whose folder is the repository.
_OF_FRAMEWORK = ("framework", "setup.py", "pyproject.toml", "README.md", "LICENSE")
_NOT_IN_SDISTS = ("tests",)
_WARNING = re.compile(r"Warning\b|^warning: ")


def main(arguments: Sequence[str] | None = None) -> int:
    """Builds the distributions; returns 1 if anything is wrong with them."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--output", type=Path, default=ROOT / "dist", help="default: dist")
    parser.add_argument("--only", action="append", help="a distribution; default: all")
    parser.add_argument("--twice", action="store_true", help="compares two builds")
    options = parser.parse_args(arguments)
    folders = distributions()
    names = options.only or list(folders)
    if unknown := set(names) - set(folders):
        parser.error(f"there is no {', '.join(unknown)}; there are {', '.join(folders)}")
    if changed := _git("status", "--porcelain", "--untracked-files=no").splitlines():
        print(f"These are no files of a commit: {len(changed)} have changed.")
    shutil.rmtree(options.output, ignore_errors=True)
    faults = list(build_all([folders[name] for name in names], options.output))
    if options.twice:
        faults += _differences(names, options.output)
    _print_sizes(options.output)
    for fault in faults:
        print(fault)
    return 1 if faults else 0


def build_all(folders: Iterable[Path], output: Path) -> Iterator[str]:
    """Writes sdists and wheels to a folder; yields what is wrong with them, a line each."""
    output.mkdir(parents=True, exist_ok=True)
    for folder in folders:
        yield from _build(folder, output)
    archives = sorted(path for path in output.iterdir() if path.name.endswith((".whl", ".gz")))
    for archive in archives:
        normalise(archive, _epoch())
    for wheel in output.glob("*.whl"):
        yield from problems(wheel)
    checked = _python("-m", "twine", "check", "--strict", *map(str, archives))
    if checked.returncode:
        yield checked.stdout


def _build(folder: Path, output: Path) -> Iterator[str]:
    """Builds an sdist and, from the sdist, a wheel; yields the warnings of setuptools."""
    with tempfile.TemporaryDirectory() as copy:
        copy_sources(folder, Path(copy))
        built = _python("-m", "build", "--no-isolation", "--outdir", str(output), copy)
    lines = built.stdout.splitlines()
    if built.returncode:
        raise SystemExit(f"{folder} cannot be built:\n{built.stdout}")
    yield from (f"{folder.name}: {line}" for line in lines if _WARNING.search(line))


def copy_sources(folder: Path, copy: Path) -> None:
    """Copies the files of a distribution that git tracks, without tests."""
    parts = _OF_FRAMEWORK if folder == ROOT else (".",)
    for name in _git("ls-files", "-z", "--", *parts, folder=folder).split("\0"):
        if name and name.partition("/")[0] not in _NOT_IN_SDISTS:
            target = copy / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(folder / name, target)


def _differences(names: Iterable[str], output: Path) -> Iterator[str]:
    """Builds again in a process with another umask and time zone; yields archives that differ."""
    words = [word for name in names for word in ("--only", name)]
    with tempfile.TemporaryDirectory() as again:
        subprocess.run(
            [sys.executable, __file__, "--output", again, *words],
            check=True,
            stdout=subprocess.DEVNULL,
            umask=0o077,
            env={**os.environ, "TZ": "Pacific/Auckland", "PYTHONHASHSEED": "1"},
        )
        for archive in sorted(output.iterdir()):
            if archive.read_bytes() != (Path(again) / archive.name).read_bytes():
                yield f"{archive.name}: a second build has other bytes"


def _print_sizes(output: Path) -> None:
    for archive in sorted(output.iterdir()):
        print(f"{archive.stat().st_size:>12,} bytes  {archive.name}")


def _epoch() -> int:
    return int(os.environ.get("SOURCE_DATE_EPOCH") or _git("log", "-1", "--format=%ct"))


def _python(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        # Without byte code, setuptools warns that it does not write any.
        env={**os.environ, "SOURCE_DATE_EPOCH": str(_epoch()), "PYTHONDONTWRITEBYTECODE": ""},
    )


def _git(*words: str, folder: Path = ROOT) -> str:
    return subprocess.run(
        ["git", *words], cwd=folder, check=True, capture_output=True, text=True
    ).stdout


if __name__ == "__main__":
    sys.exit(main())
