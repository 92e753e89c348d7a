"""`tf-frame profile gc`: removes old profiles."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from tf_frame import file_system
from tf_frame.command_line.folder_command import folder_command
from tf_frame.command_line.screen import report
from tf_frame.config.option import Option
from tf_frame.errors import EXIT_OK, ConfigError, short_reason
from tf_frame.profiling.profile_folders import retain
from tf_frame.tensorflow_log import quiet_import

USAGE = """usage: tf-frame profile gc MODEL_DIR --keep N [--dry_run]

Removes all profiles of MODEL_DIR but the newest N, by the time in the names of the folders. Only
folders of plugins/profile with a capture are removed, and none that was given a name of its own."""
_KEEP = Option("keep", int | None, None, "how many profiles stay", min=0)
_DRY_RUN = Option("dry_run", bool, False, "remove nothing, only print what would be removed")
OPTIONS = (_KEEP, _DRY_RUN)


@folder_command(name="tf-frame profile gc", usage=USAGE, options=OPTIONS)
def main(folders: Sequence[str], values: Mapping[str, Any]) -> int:
    """Removes profiles; returns the exit code."""
    if values[_KEEP.name] is None:
        raise ConfigError("tf-frame profile gc takes --keep N, the number of profiles that stay")
    model_dir, dry_run = os.path.expanduser(folders[0]), values[_DRY_RUN.name]
    with quiet_import():  # A remote folder needs TensorFlow.
        file_system.require_folder(model_dir)
        try:
            removed = retain(model_dir, values[_KEEP.name], dry_run=dry_run)
        except OSError as error:
            raise ConfigError(f"a profile cannot be removed: {short_reason(error)}") from error
    for path, size in removed:
        report(f"{'would remove' if dry_run else 'removed'} {path}, {size} bytes")
    total = sum(size for _, size in removed)
    report(f"{len(removed)} profiles, {total} bytes" if removed else "nothing to remove")
    return EXIT_OK
