"""`tf-frame profile merge`: merges the traces of all tasks in a profile to one Chrome trace."""

from __future__ import annotations

import gzip
import os
from collections.abc import Mapping, Sequence
from typing import Any

from tf_frame import file_system
from tf_frame.command_line.folder_command import folder_command
from tf_frame.command_line.screen import report
from tf_frame.config.option import Option
from tf_frame.errors import (
    EXIT_OK,
    DataError,
    writing,
)
from tf_frame.profiling.clock_alignment import align, read_run
from tf_frame.profiling.merged_trace import draw_tasks
from tf_frame.profiling.profile_folders import ProfileFolder, find_folder
from tf_frame.tensorflow_log import quiet_import
from tf_frame.text import short

USAGE = """usage: tf-frame profile merge MODEL_DIR [OPTIONS]

Writes one Chrome trace of the chief, the workers and the parameter servers of a profile, for
https://ui.perfetto.dev or chrome://tracing, with a row for each task's Python code and for each of
its devices, by the clock of the chief. The profile of a single task works too."""
_RUN = Option("run", str | None, None, "the profile, a folder of plugins/profile; the newest")
_OUTPUT = Option(
    "output", str | None, None, "FILE.json or FILE.json.gz; none: merged.json.gz in the profile"
)
_STEP = Option("step", int | None, None, "only this global step of the chief", min=0)
_THREADPOOL = Option("keep_threadpool", bool, False, "also events of Eigen's thread pools")
OPTIONS = (_RUN, _OUTPUT, _STEP, _THREADPOOL)
_NAME = "merged.json.gz"


@folder_command(name="tf-frame profile merge", usage=USAGE, options=OPTIONS)
def main(folders: Sequence[str], values: Mapping[str, Any]) -> int:
    """Writes the trace; returns the exit code."""
    output, keep_threadpool = values[_OUTPUT.name], values[_THREADPOOL.name]
    with quiet_import():  # A remote folder needs TensorFlow.
        folder = find_folder(os.path.expanduser(folders[0]), values[_RUN.name])
        path = os.path.expanduser(output) if output else os.path.join(folder.path, _NAME)
        rows = write_merged(folder, path, values[_STEP.name], keep_threadpool=keep_threadpool)
    report(f"{rows}\nopen it in https://ui.perfetto.dev or chrome://tracing")
    return EXIT_OK


def write_merged(
    folder: ProfileFolder, path: str, step: int | None = None, *, keep_threadpool: bool = False
) -> str:
    """Writes one trace of all tasks, compressed if the name ends with .gz; returns its rows.

    Raises:
      ConfigError: no task recorded the step, or the file cannot be written.
      DataError: the profile is damaged or empty.
    """
    trace = draw_tasks(align(read_run(folder, keep_threadpool=keep_threadpool), step))
    if not len(trace):
        raise DataError(f"{short(folder.path)} has no events; its files are empty")
    data = trace.json().encode()
    with writing(short(path), "choose another file"):
        file_system.write_bytes(path, gzip.compress(data, 6) if path.endswith(".gz") else data)
    return (
        f"wrote {path}: {len(trace)} events of {folder.name} on {len(trace.rows)} rows\n"
        + "\n".join(f"  {row}" for row in trace.rows)
    )
