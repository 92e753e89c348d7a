"""Checks made of the answers of the child process: TensorFlow, the Profile tab, the plugins."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tf_frame.cli.doctor import machine
from tf_frame.cli.doctor.check import OK, PROBLEM, WARNING, Check
from tf_frame.cli.doctor.child import Answer
from tf_frame.cli.doctor.packages import PROFILE_EXTRA, requirements, version_of

PROFILE_TAB = "profile_tab"
PARTS = ("tensorflow", PROFILE_TAB, "plugins")
FOLDER = "folder"
_STATES = {"broken": PROBLEM, "incompatible": PROBLEM, "conflict": WARNING}


def checks(
    answers: Mapping[str, Answer], environment: Mapping[str, str], folder: str
) -> Iterator[Check]:
    """Yields the checks.

    Args:
      answers: answer to each of `PARTS`, and to `FOLDER` for a remote folder.
      environment: the environment variables.
      folder: the model folder.
    """
    yield _tensorflow(answers["tensorflow"])
    yield machine.gpus(answers["tensorflow"], environment)
    yield profile_tab(answers[PROFILE_TAB])
    yield from _plugins(answers["plugins"])
    if FOLDER in answers:
        yield _remote_folder(answers[FOLDER], folder)


def _tensorflow(answer: Answer) -> Check:
    name = "import tensorflow"
    if not answer.error:
        return Check(name, OK, "works")
    conflict = "pip check shows packages in conflict; install tf-frame into a new environment"
    advice = _newer_protobuf() or conflict
    if "AVX" in answer.error or "Illegal instruction" in answer.error:
        advice = "TensorFlow's wheels need a processor with AVX; see lscpu"
    return Check(name, PROBLEM, answer.error, (advice,))


def profile_tab(answer: Answer) -> Check:
    """The check that TensorBoard will show the Profile tab.

    Args:
      answer: that of the part `profile_tab` of `probe`.
    """
    name = "Profile tab"
    if not version_of("xprof"):
        advice = f"pip install 'tf-frame[{PROFILE_EXTRA}]'"
        return Check(name, WARNING, "missing in TensorBoard: xprof is not installed", (advice,))
    if not answer.tried:
        return _untried(name)
    if not answer.error:
        return Check(name, OK, "TensorBoard has it")
    advice = (
        _newer_protobuf() or f"pip install --upgrade --force-reinstall 'tf-frame[{PROFILE_EXTRA}]'"
    )
    return Check(name, PROBLEM, f"missing in TensorBoard: {answer.error}", (advice,))


def _newer_protobuf() -> str:
    """The command that installs a protobuf with which all works; empty if it is installed."""
    needed = requirements(PROFILE_EXTRA).get("protobuf")
    version = version_of("protobuf")
    if needed and version and not needed.specifier.contains(version, prereleases=True):
        return f"pip install 'protobuf{needed.specifier}'"
    return ""


def _plugins(answer: Answer) -> Iterator[Check]:
    name = "plugins"
    if answer.error:
        check = Check(name, PROBLEM, answer.error, ("tf-frame plugins list --check",))
        yield check if answer.tried else _untried(name)
        return
    rows = answer.result
    models = sorted({row["name"] for row in rows if row["kind"] == "model"})
    listed = ", ".join(models) or "pip install one, such as tf-frame-deeplab"
    yield Check(name, OK, f"{len(rows)}; models: {listed}")
    yield from (_plugin(row) for row in rows if row["problem"])


def _plugin(row: Mapping[str, Any]) -> Check:
    found = f"{row['name']} of {row['distribution']} {row['version']} is {row['state']}: "
    advice = "" if row["state"] == "conflict" else f"pip install --upgrade {row['distribution']}"
    return Check(
        row["kind"], _STATES[row["state"]], found + row["problem"], (advice,) if advice else ()
    )


def _remote_folder(answer: Answer, folder: str) -> Check:
    name = "model_dir"
    if not answer.tried:
        return _untried(name)
    if not answer.error:
        return Check(name, OK, f"{folder} can be written")
    advice = "check its name and your credentials"
    return Check(name, PROBLEM, f"{folder} cannot be written: {answer.error}", (advice,))


def _untried(name: str) -> Check:
    return Check(name, WARNING, "not looked at, because the process had ended by then")
