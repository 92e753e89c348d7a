"""Folders of captures below a model folder; no TensorFlow for a local path.

    plugins/profile/2026_01_31_12_00_00_step_100/<host>_<task>.xplane.pb
    plugins/profile/2026_01_31_12_00_00_step_100/<host>_<task>.steps.json.gz

TensorBoard's captures have such folders too. They hold other files as well, those that
TensorBoard keeps of its pages.
"""

from __future__ import annotations

import dataclasses
import logging
import os
import re
from collections.abc import Sequence

from tf_frame import file_system
from tf_frame.errors import ConfigError, DataError
from tf_frame.profiling import step_profile

_LOG = logging.getLogger("tf_frame")
XPLANE = ".xplane.pb"
_TIME = re.compile(r"\d{4}(_\d\d){5}")
# `<host>_worker_0`; TensorBoard's captures are named after a host, or a host and a port.
_TASK = re.compile(r"_([a-z]+_\d+)$")


@dataclasses.dataclass(frozen=True)
class RunFolder:
    """A folder with captures, one or two files for each task.

    Attributes:
      path: of the folder.
      steps: paths of recorded steps (`step_profile`).
      xplanes: paths of XPlane files.
    """

    path: str
    steps: Sequence[str]
    xplanes: Sequence[str]

    @property
    def name(self) -> str:
        """The run's name on TensorBoard's Profile tab."""
        return os.path.basename(self.path)

    @property
    def has_time(self) -> bool:
        """True if the name begins with a time, as tf-frame and TensorBoard name them."""
        return _TIME.match(self.name) is not None


def run_folders(model_dir: str) -> list[RunFolder]:
    """Returns the folders with captures, oldest first; those without a time come before."""
    found = map(_run_folder, file_system.files_in(os.path.join(model_dir, "plugins", "profile")))
    captures = [each for each in found if each.steps or each.xplanes]
    return sorted(captures, key=lambda each: (each.has_time, each.name))


def find(model_dir: str, name: str | None = None) -> RunFolder:
    """Returns a folder with captures.

    Args:
      model_dir: the `--model_dir` of a run.
      name: of the folder; None: the newest.

    Raises:
      ConfigError: there is none, or no folder `model_dir`.
    """
    file_system.require_folder(model_dir)
    found = {each.name: each for each in run_folders(model_dir)}
    if not found:
        raise ConfigError(
            f"{model_dir} has no profile, which would be in {model_dir}/plugins/profile; "
            "tf-frame run --profile_at_step 100 makes one"
        )
    if name is not None and name not in found:
        raise ConfigError(f"{model_dir} has no profile {name!r}; it has {', '.join(found)}")
    return found[name if name is not None else list(found)[-1]]


def read_steps(paths: Sequence[str]) -> list[step_profile.StepProfile]:
    """Reads recorded steps; a damaged file beside a good one is left out, with a warning.

    Raises:
      DataError: all files are damaged.
    """
    profiles, faults = [], []
    for path in paths:
        try:
            profiles.append(step_profile.read(path))
        except DataError as error:
            faults.append(error)
    if faults and not profiles:
        raise faults[0]
    for fault in faults:
        _LOG.warning("warning: left out: %s", fault)
    return profiles


def task_of(path: str) -> str:
    """Returns the task in the name of a capture's file, such as `ps_0`; the whole name without."""
    name = os.path.basename(path).removesuffix(XPLANE).removesuffix(step_profile.SUFFIX)
    found = _TASK.search(name)
    return found[1] if found else name


def _run_folder(path: str) -> RunFolder:
    files = file_system.files_in(path) if file_system.is_folder(path) else []
    return RunFolder(
        path,
        [each for each in files if each.endswith(step_profile.SUFFIX)],
        [each for each in files if each.endswith(XPLANE)],
    )
