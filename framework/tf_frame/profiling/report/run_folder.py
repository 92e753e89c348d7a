"""Finds the recorded steps of a run: `MODEL_DIR/plugins/profile/RUN/*.steps.json.gz`."""

from __future__ import annotations

import dataclasses
import logging
import os
from collections.abc import Sequence

from tf_frame import file_system
from tf_frame.config.values import nearest
from tf_frame.errors import ConfigError, DataError
from tf_frame.profiling.run_folders import read_steps, run_folders
from tf_frame.profiling.step_profile import SUFFIX, StepProfile

_LOG = logging.getLogger("tf_frame")


@dataclasses.dataclass(frozen=True)
class Run:
    """A run folder.

    Attributes:
      name: of the folder, such as `2026_01_31_12_00_00_step_100`.
      profiles: of each task, by name of the file.
    """

    name: str
    profiles: Sequence[StepProfile]


def find(model_dir: str, run: str | None = None) -> Run:
    """Reads the recorded steps of all tasks; a damaged file beside a good one is only named.

    Args:
      model_dir: the folder of the training.
      run: name of the run folder; None: the newest with recorded steps.

    Raises:
      ConfigError: there is no such folder, or no such run in it.
      DataError: no steps are recorded in it, or all files are damaged.
    """
    model_dir = os.path.expanduser(model_dir)
    file_system.require_folder(model_dir)
    found = run_folders(model_dir)
    runs = {each.name: each.steps for each in found if each.steps}
    if not runs:
        raise DataError(
            f"{model_dir} has no recorded steps (plugins/profile/*/*{SUFFIX}); record some with "
            "tf-frame profile, or with --profile_at_step"
        )
    if run is not None and run not in runs:
        near = nearest(run, list(runs))
        hint = f"did you mean {near}?" if near else f"it has {', '.join(runs)}"
        raise ConfigError(f"--run {run}: {model_dir} has no recorded steps of that name; {hint}")
    name = run if run is not None else list(runs)[-1]
    if run is None and found[-1].name != name:
        _LOG.warning("warning: %s is newer, but has no recorded steps", found[-1].name)
    return Run(name, read_steps(runs[name]))
