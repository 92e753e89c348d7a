"""Versions of the packages on which tf-frame stands, and their known traps.

Versions come from the metadata of the packages, so that none is imported. The bounds are those of
tf-frame's own metadata, that is of `setup.py`.
"""

from __future__ import annotations

import dataclasses
import functools
import importlib.metadata
import platform
import sys
from collections.abc import Iterator

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from tf_frame.cli.doctor.check import OK, PROBLEM, STATES, WARNING, Check
from tf_frame.plugin.find import OWN_DISTRIBUTION

PROFILE_EXTRA = "profile"
# Packages with a line of their own; the other requirements share one.
_SHOWN = ("tensorflow", "keras", "tf-keras", "protobuf", "tensorboard", "xprof")
# Other packages that bring the same modules.
_INSTEAD = {"tensorflow": ("tensorflow-cpu", "tensorflow-intel", "tf-nightly")}


@dataclasses.dataclass(frozen=True)
class _Trap:
    """Behaviour of some versions of a package that surprises.

    Attributes:
      package, versions: the versions that behave so.
      beside: another package without which it does not matter, and its versions.
      text: what happens, and what to do.
    """

    package: str
    versions: str
    text: str
    state: str = OK
    beside: tuple[str, str] | None = None

    def applies(self) -> bool:
        """Returns whether the packages are installed in such versions."""
        needed = [(self.package, self.versions), *([self.beside] if self.beside else [])]
        return all(_is_version(version_of(name), versions) for name, versions in needed)


# Seen with TensorFlow 2.21 and xprof 2.24.2, and TensorBoard 2.20 in the case of setuptools.
_TRAPS = (
    _Trap(
        "tensorflow",
        "==2.21.*",
        "tf.profiler.experimental.ProfilerOptions has no effect; the levels of "
        "tf_frame.profiling.capture.Capture have",
    ),
    _Trap(
        "tensorflow",
        "==2.21.*",
        "tf.compat.v1.train.ProfilerHook fails a step while another profiler is active; "
        "tf_frame.hooks.stock.profiler.ProfilerHook does not",
    ),
    _Trap(
        "protobuf",
        "<6.33.5",
        "TensorBoard has no Profile tab with protobuf below 6.33.5, and says so only in its log; "
        "pip install 'protobuf>=6.33.5,<8'",
        PROBLEM,
        beside=("xprof", ">=2.20"),
    ),
    _Trap(
        "tensorboard",
        "<2.21",
        "TensorBoard 2.20 needs pkg_resources, which setuptools 82 no longer has; "
        "pip install 'setuptools<82'",
        PROBLEM,
        beside=("setuptools", ">=82"),
    ),
    _Trap(
        "xprof",
        ">=2.20",
        "its own server, xprof, listens on all interfaces; tf-frame tensorboard only on this "
        "machine's",
    ),
    _Trap(
        "xprof",
        ">=2.20",
        "the Profile tab draws charts and tables with a script from www.gstatic.com; without the "
        "Internet only its text and its trace viewer show",
    ),
    _Trap(
        "tf-keras",
        "==2.21.*",
        "tf_slim's batch_norm finds no tf_keras.legacy_tf_layers; import tf_frame_legacy.slim "
        "in place of tf_slim",
        WARNING,
        beside=("tf-slim", ""),
    ),
)


def checks() -> Iterator[Check]:
    """Yields a check for Python, each package of interest, and the other requirements."""
    yield Check("python", OK, f"{platform.python_version()}, {sys.executable}")
    yield from filter(None, map(_package, _SHOWN))
    others = [found for name in sorted(set(requirements()) - {*_SHOWN}) if (found := _other(name))]
    yield from [each for each in others if each.state != OK] or [
        Check("requirements", OK, ", ".join(f"{each.name} {each.found}" for each in others))
    ]


@functools.cache
def requirements(extra: str = "") -> dict[str, Requirement]:
    """Returns what tf-frame requires, with the packages of an extra, by the package's name."""
    try:
        lines = importlib.metadata.requires(OWN_DISTRIBUTION) or []
    except importlib.metadata.PackageNotFoundError:
        lines = []  # Run from its sources.
    needed = [
        each
        for each in map(Requirement, lines)
        if not each.marker or each.marker.evaluate({"extra": extra})
    ]
    return {canonicalize_name(each.name): each for each in needed}


def version_of(package: str) -> str:
    """Returns the version of an installed package, empty if there is none."""
    for name in (package, *_INSTEAD.get(package, ())):
        try:
            return importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return ""


def _is_version(version: str, versions: str) -> bool:
    return bool(version) and SpecifierSet(versions).contains(version, prereleases=True)


def _package(name: str) -> Check | None:
    """The check of a package with its traps; None for one that nothing needs and nobody has."""
    check = _other(name)
    if check is None:
        return None
    traps = [trap for trap in _TRAPS if trap.package == name and trap.applies()]
    state = max([check.state, *(trap.state for trap in traps)], key=STATES.index)
    return Check(name, state, check.found, (*check.advice, *(trap.text for trap in traps)))


def _other(name: str) -> Check | None:
    version, needed = version_of(name), requirements().get(name)
    if needed is None:
        return Check(name, OK, version) if version else None
    advice = (f"pip install '{name}{needed.specifier}'",)
    if not version:
        return Check(name, PROBLEM, "not installed", advice)
    if not needed.specifier.contains(version, prereleases=True):
        return Check(name, PROBLEM, f"{version}; tf-frame needs {needed.specifier}", advice)
    return Check(name, OK, version)
