"""Checks packages: versions, known problems of versions, and imports in the process of `probe`.

Versions come from the metadata of the packages, without an import. The bounds of versions come from
tf-frame's own metadata, which `setup.py` defines.
"""

from __future__ import annotations

import functools
import importlib.metadata
import platform
import sys
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from tf_frame.cli.doctor.machine import OK, PROBLEM, STATES, WARNING, Check, gpus, peak
from tf_frame.cli.doctor.probe import Answer
from tf_frame.plugin.packages import OWN_DISTRIBUTION

PROFILE_EXTRA = "profile"
PROFILE_TAB = "profile_tab"
PARTS = ("tensorflow", PROFILE_TAB, "plugins", "peak")
FOLDER = "folder"
_STATES = {"broken": PROBLEM, "incompatible": PROBLEM, "conflict": WARNING}
# Packages with a separate line; the other requirements share one.
_SHOWN = ("tensorflow", "keras", "tf-keras", "protobuf", "tensorboard", "xprof")
# Other packages that bring the same modules.
_INSTEAD = {"tensorflow": ("tensorflow-cpu", "tensorflow-intel", "tf-nightly")}


class _Trap(NamedTuple):
    """Surprising behaviour of some versions of packages; the check of the first one shows it.

    Attributes:
      versions: package -> the versions with this behaviour; all of them have to be installed.
      text: the behaviour, and what to do.
    """

    versions: Mapping[str, str]
    text: str
    state: str = OK

    def applies(self) -> bool:
        """Returns whether these versions are installed."""
        return all(
            _is_version(installed_version(name), versions)
            for name, versions in self.versions.items()
        )


# Seen with TensorFlow 2.21 and xprof 2.24.2, and TensorBoard 2.20 in the case of setuptools.
_TRAPS = (
    _Trap(
        {"tensorflow": "==2.21.*"},
        "tf.profiler.experimental.ProfilerOptions has no effect; the levels of "
        "tf_frame.profiling.capture.Capture have",
    ),
    _Trap(
        {"tensorflow": "==2.21.*"},
        "tf.compat.v1.train.ProfilerHook fails a step while another profiler is active; "
        "tf_frame.hooks.stock.profiler.ProfilerHook does not",
    ),
    _Trap(
        {"protobuf": "<6.33.5", "xprof": ">=2.20"},
        "TensorBoard has no Profile tab with protobuf below 6.33.5, and says so only in its log; "
        "pip install 'protobuf>=6.33.5,<8'",
        PROBLEM,
    ),
    _Trap(
        {"tensorboard": "<2.21", "setuptools": ">=82"},
        "TensorBoard 2.20 needs pkg_resources, which setuptools 82 no longer has; "
        "pip install 'setuptools<82'",
        PROBLEM,
    ),
    _Trap(
        {"xprof": ">=2.20"},
        "its own server, xprof, listens on all interfaces; tf-frame tensorboard only on this "
        "machine's",
    ),
    _Trap(
        {"xprof": ">=2.20"},
        "the Profile tab draws charts and tables with a script from www.gstatic.com; without the "
        "Internet only its text and its trace viewer show",
    ),
    _Trap(
        {"tf-keras": "==2.21.*", "tf-slim": ""},
        "tf_slim's batch_norm finds no tf_keras.legacy_tf_layers; import tf_frame_legacy.slim "
        "instead of tf_slim",
        WARNING,
    ),
)


def version_checks() -> Iterator[Check]:
    """Yields a check for Python, each package of interest, and the other requirements."""
    yield Check("python", OK, f"{platform.python_version()}, {sys.executable}")
    yield from filter(None, map(_package, _SHOWN))
    names = sorted(set(requirements()) - {*_SHOWN})
    checks = [check for name in names if (check := _requirement(name))]
    yield from [check for check in checks if check.state != OK] or [
        Check("requirements", OK, ", ".join(f"{check.name} {check.found}" for check in checks))
    ]


@functools.cache
def requirements(extra: str = "") -> dict[str, Requirement]:
    """Returns the requirements of tf-frame, and of one extra, by the name of the package."""
    try:
        lines = importlib.metadata.requires(OWN_DISTRIBUTION) or []
    except importlib.metadata.PackageNotFoundError:
        lines = []  # Run from its sources.
    required = [
        requirement
        for requirement in map(Requirement, lines)
        if not requirement.marker or requirement.marker.evaluate({"extra": extra})
    ]
    return {canonicalize_name(requirement.name): requirement for requirement in required}


def installed_version(package: str) -> str:
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
    """Checks a package with its traps; None if it is neither required nor installed."""
    check = _requirement(name)
    if check is None:
        return None
    traps = [trap for trap in _TRAPS if name == next(iter(trap.versions)) and trap.applies()]
    state = max([check.state, *(trap.state for trap in traps)], key=STATES.index)
    return Check(name, state, check.found, (*check.advice, *(trap.text for trap in traps)))


def _requirement(name: str) -> Check | None:
    version, required = installed_version(name), requirements().get(name)
    if required is None:
        return Check(name, OK, version) if version else None
    advice = (f"pip install '{name}{required.specifier}'",)
    if not version:
        return Check(name, PROBLEM, "not installed", advice)
    if not required.specifier.contains(version, prereleases=True):
        return Check(name, PROBLEM, f"{version}; tf-frame needs {required.specifier}", advice)
    return Check(name, OK, version)


def import_checks(
    answers: Mapping[str, Answer], environment: Mapping[str, str], folder: str
) -> Iterator[Check]:
    """Yields the checks of TensorFlow, GPUs, the Profile tab, plugins, peak and a remote folder.

    The answers are to each of `PARTS`, and to `FOLDER` for a remote folder.
    """
    yield _tensorflow(answers["tensorflow"])
    yield gpus(answers["tensorflow"], environment)
    yield profile_tab(answers[PROFILE_TAB])
    yield from _plugins(answers["plugins"])
    yield peak(answers["peak"])
    if FOLDER in answers:
        advice = "check its name and your credentials"
        failure = f"{folder} cannot be written: "
        yield _check("model_dir", answers[FOLDER], f"{folder} can be written", failure, advice)


def _check(name: str, answer: Answer, success: str, failure: str, advice: str) -> Check:
    """Returns the check of an answer; `failure` is the text before the error."""
    if not answer.tried:
        return Check(name, WARNING, "not looked at, because the process had ended before")
    if answer.error:
        return Check(name, PROBLEM, f"{failure}{answer.error}", (advice,))
    return Check(name, OK, success)


def _tensorflow(answer: Answer) -> Check:
    conflict = "pip check shows packages in conflict; install tf-frame into a new environment"
    advice = _newer_protobuf() or conflict
    if "AVX" in answer.error or "Illegal instruction" in answer.error:
        advice = "TensorFlow's wheels need a processor with AVX; see lscpu"
    return _check("import tensorflow", answer, "works", "", advice)


def profile_tab(answer: Answer) -> Check:
    """Checks that TensorBoard will show the Profile tab."""
    name, package = "Profile tab", f"'tf-frame[{PROFILE_EXTRA}]'"
    if not installed_version("xprof"):
        advice = f"pip install {package}"
        return Check(name, WARNING, "missing in TensorBoard: xprof is not installed", (advice,))
    advice = _newer_protobuf() or f"pip install --upgrade --force-reinstall {package}"
    return _check(name, answer, "TensorBoard has it", "missing in TensorBoard: ", advice)


def _newer_protobuf() -> str:
    """Returns the command that installs a newer protobuf; empty if it is new enough."""
    required = requirements(PROFILE_EXTRA).get("protobuf")
    version = installed_version("protobuf")
    if required and version and not required.specifier.contains(version, prereleases=True):
        return f"pip install 'protobuf{required.specifier}'"
    return ""


def _plugins(answer: Answer) -> Iterator[Check]:
    rows = answer.result or []
    models = sorted({row["name"] for row in rows if row["kind"] == "model"})
    listed = ", ".join(models) or "pip install one, such as tf-frame-deeplab"
    success = f"{len(rows)}; models: {listed}"
    yield _check("plugins", answer, success, "", "tf-frame plugins list --check")
    for row in rows:
        if row["problem"]:
            yield _plugin(row)


def _plugin(row: Mapping[str, Any]) -> Check:
    state = row["state"]
    text = f"{row['name']} of {row['distribution']} {row['version']} is {state}: {row['problem']}"
    advice = () if state == "conflict" else (f"pip install --upgrade {row['distribution']}",)
    return Check(row["kind"], _STATES[state], text, advice)
