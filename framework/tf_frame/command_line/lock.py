"""Compares the installed plugins with those that a run recorded in its `config.yaml`."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator, Sequence

from tf_frame import file_system
from tf_frame.checkpoint.names import LIST_FILE
from tf_frame.config.yaml_file import Settings, read_settings
from tf_frame.errors import ConfigError, PluginError, TfFrameError
from tf_frame.plugin.find import PluginInfo
from tf_frame.plugin.lock import differences, incomplete, unrecorded
from tf_frame.runs.setup.model_dir import CONFIG_FILE
from tf_frame.text import short


def find_records(files: Iterable[Settings], model_dir: str | None) -> list[Settings]:
    """Returns the records of plugins in configuration files, and in the folder of a run."""
    records = [file for file in files if file.versions or file.lock]
    path, checkpoint = (
        os.path.join(os.path.expanduser(model_dir or ""), name) for name in (CONFIG_FILE, LIST_FILE)
    )
    paths = [file.path for file in files]
    if model_dir and path not in paths and file_system.exists(checkpoint):
        # A damaged file is reported together with the options that differ.
        with contextlib.suppress(ConfigError):
            records.append(read_settings(path))
    return records


def change_warnings(records: Iterable[Settings]) -> list[str]:
    """Returns a line for each package that differs from a record."""
    return [
        f"warning: {short(record.path)} was written with {text}"
        for record in records
        for text in differences(record.versions, record.lock)
    ]


@contextlib.contextmanager
def adding_plugin_changes(records: Callable[[], Iterable[Settings]]) -> Iterator[None]:
    """Adds the changes of plugins to an error inside the block: a change may be the cause.

    Only after an error the records are read, which takes time.
    """
    try:
        yield
    except (ConfigError, PluginError) as error:
        # A failure to read the records matters less than the error.
        with contextlib.suppress(TfFrameError, OSError):
            error.args = ("\n".join([str(error), *change_warnings(records())]),)
        raise


def refuse_changed(records: Sequence[Settings], files: Sequence[Settings] = ()) -> None:
    """Refuses plugins that differ from the records in files or a folder, for `--locked`.

    Raises:
      ConfigError: a package differs, or a record is missing or lacks a version or hash.
    """
    if not (records or files):
        raise ConfigError(
            "--locked: no plugins are recorded; name the folder of a run, or its config.yaml by "
            "--config"
        )
    for record in records or files:
        problem = _find_problem(record)
        if problem:
            raise ConfigError(f"--locked: {short(record.path)} {problem}")


def _find_problem(record: Settings) -> str:
    """Returns why a record does not allow `--locked`; empty if the plugins are as recorded."""
    if not (record.lock or record.versions):
        return "records no plugins; leave --locked out: a run records them when it begins"
    if not record.lock:
        return (
            "does not record the content of its plugins; it was written by a release without a "
            "lock. Leave --locked out: a run that resumes records it"
        )
    for text in incomplete(record.versions, record.lock):
        return f"does not record {text}; leave --locked out: a run that resumes records it"
    for text in differences(record.versions, record.lock):
        return f"was written with {text}; install the recorded package, or leave --locked out"
    return ""


def refuse_unrecorded(plugins: Iterable[PluginInfo], records: Iterable[Settings]) -> None:
    """Refuses plugins that no record has, for `--locked`.

    Raises:
      ConfigError: a plugin has no record.
    """
    for described in unrecorded(plugins, [record.lock for record in records]):
        raise ConfigError(
            f"--locked: {described} is not among the recorded plugins; run without it, or without "
            "--locked"
        )
