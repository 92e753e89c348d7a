"""The configuration in the folder of a run, or the reason why there is none, with near folders."""

from __future__ import annotations

import difflib
import os

from tf_frame import file_system
from tf_frame.errors import ConfigError
from tf_frame.plugin.find import find_plugins
from tf_frame.plugin.kinds import MODEL
from tf_frame.runs.setup.model_dir import CONFIG_FILE


def find_configuration(model_dir: str) -> str:
    """Returns the path of the configuration file in a folder.

    Raises:
      ConfigError: there is none.
    """
    path = os.path.join(os.path.expanduser(model_dir), CONFIG_FILE)
    if not file_system.exists(path):
        raise ConfigError(_explain_missing_run(model_dir))
    return path


def explain_missing_plugin(model_dir: str) -> ConfigError:
    """Returns the error of a command line without a model, with or without a folder."""
    models = sorted({info.name for info in find_plugins() if info.kind == MODEL})
    installed = ", ".join(models) or "none yet; pip install one, such as tf-frame-deeplab"
    ask = f"say which model to train: --plugin NAME (installed: {installed})"
    if not model_dir:
        return ConfigError(ask)
    reason = _explain_missing_run(model_dir)
    link = " To" if reason.endswith("?") else "; to"
    return ConfigError(f"{reason}{link} begin a new run there, {ask}")


def _explain_missing_run(model_dir: str) -> str:
    """Returns why a folder names no model to go on with, and folders of runs with near names."""
    folder = os.path.expanduser(model_dir)
    if not file_system.is_folder(folder):
        reason = f"{model_dir}: there is no such folder"
    elif not file_system.exists(os.path.join(folder, CONFIG_FILE)):
        reason = f"{model_dir} has no {CONFIG_FILE}, which tf-frame run writes when training begins"
    else:
        reason = f"{model_dir}/{CONFIG_FILE} names no plugin"
    near = _find_near_runs(folder)
    return f"{reason}; did you mean {' or '.join(near)}?" if near else reason


def _find_near_runs(folder: str) -> list[str]:
    """Returns the paths of runs in the same parent folder with similar names."""
    parent, name = os.path.split(folder.rstrip("/"))
    if not os.path.isdir(parent or "."):
        return []
    runs = [
        entry.name
        for entry in os.scandir(parent or ".")
        if entry.name != name and os.path.exists(os.path.join(entry.path, CONFIG_FILE))
    ]
    return [os.path.join(parent, near) for near in difflib.get_close_matches(name, runs)]
