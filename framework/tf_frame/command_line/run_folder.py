"""Finds the configuration in the folder of a run, or says why there is none and what is near."""

from __future__ import annotations

import difflib
import os

from tf_frame import file_system
from tf_frame.errors import ConfigError
from tf_frame.plugin.find import find_plugins
from tf_frame.plugin.kinds import MODEL
from tf_frame.runs.setup.model_dir import CONFIG_FILE


def file_of_folder(model_dir: str) -> str:
    """The configuration file of a folder."""
    file = os.path.join(os.path.expanduser(model_dir), CONFIG_FILE)
    if not file_system.exists(file):
        raise ConfigError(_no_run_in(model_dir))
    return file


def no_plugin_named(model_dir: str) -> ConfigError:
    """The error of a command line without a model, in or without a folder."""
    models = sorted({info.name for info in find_plugins() if info.kind == MODEL})
    installed = ", ".join(models) or "none yet; pip install one, such as tf-frame-deeplab"
    ask = f"say which model to train: --plugin NAME (installed: {installed})"
    if not model_dir:
        return ConfigError(ask)
    reason = _no_run_in(model_dir)
    then = " To" if reason.endswith("?") else "; to"
    return ConfigError(f"{reason}{then} begin a new run there, {ask}")


def _no_run_in(model_dir: str) -> str:
    """The reason why a folder names no model to go on with, and folders of runs with near names."""
    folder = os.path.expanduser(model_dir)
    if not file_system.is_folder(folder):
        what = f"{model_dir}: there is no such folder"
    elif not file_system.exists(os.path.join(folder, CONFIG_FILE)):
        what = f"{model_dir} has no {CONFIG_FILE}, which tf-frame run writes when training begins"
    else:
        what = f"{model_dir}/{CONFIG_FILE} names no plugin"
    near = _near_runs(folder)
    return f"{what}; did you mean {' or '.join(near)}?" if near else what


def _near_runs(folder: str) -> list[str]:
    """Paths of the folders of runs beside a folder whose names are near to its name."""
    parent, name = os.path.split(folder.rstrip("/"))
    if not os.path.isdir(parent or "."):
        return []
    runs = [
        entry.name
        for entry in os.scandir(parent or ".")
        if entry.name != name and os.path.exists(os.path.join(entry.path, CONFIG_FILE))
    ]
    return [os.path.join(parent, near) for near in difflib.get_close_matches(name, runs)]
