"""Traces session runs as `tf.RunMetadata`, for TensorBoard and as Chrome traces.

    metadata = tf.RunMetadata()
    session.run(train_op, options=run_options(session.sess_str), run_metadata=metadata)
    write_trace("timeline.json", chrome_trace(metadata))   # for ui.perfetto.dev

The metadata hold begin, duration and device of each operation.
"""

from __future__ import annotations

import gzip
import itertools
import os
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.atomic_output import atomic_output
from tf_frame.profiling.chrome_trace import chrome_trace
from tf_frame.profiling.process_profiler import is_any_profiler_active

__all__ = ["add_run_metadata", "chrome_trace", "run_options", "without_collision", "write_trace"]


def run_options(session_target: str | bytes = "") -> Any:
    """Returns the `RunOptions` of a traced run.

    In a session of this process, FULL_TRACE fails the run while another profiler is active, such as
    TensorBoard's button; SOFTWARE_TRACE does not fail, and has the same operations and memory
    records on a CPU. A session of a server returns nothing for SOFTWARE_TRACE (measured with
    TensorFlow 2.21).

    Args:
      session_target: the target, such as `session.sess_str`; empty: a session of this process.
    """
    level = tf.RunOptions.FULL_TRACE if session_target else tf.RunOptions.SOFTWARE_TRACE
    return tf.RunOptions(trace_level=level)


def without_collision(options: Any, session_target: str | bytes) -> None:
    """Lowers a full trace, as requested by TensorFlow's hooks, to a level that fails no step.

    Changes the `RunOptions` while a capture of this process is active; see `run_options`.
    """
    full = options.trace_level > tf.RunOptions.SOFTWARE_TRACE
    if full and not session_target and is_any_profiler_active():
        options.trace_level = tf.RunOptions.SOFTWARE_TRACE


def add_run_metadata(writer: Any, run_metadata: Any, tag: str, step: int | None = None) -> str:
    """Writes run metadata with a `FileWriter`, for TensorBoard's graphs page; returns the tag.

    A writer takes every tag, the name on the page, only once; if a step runs again after a lost
    session, `_2` and so on is added. Without a step the event has the step 0, as in older hooks.
    """
    unique = tag
    for number in itertools.count(2):
        try:
            writer.add_run_metadata(run_metadata, unique, step)
            break
        except ValueError:  # The tag is taken; the writer has no other ValueError.
            unique = f"{tag}_{number}"
    return unique


def write_trace(path: str, trace: str) -> None:
    """Writes the JSON of a Chrome trace, whole or not at all; makes missing folders.

    The file, on any file system that TensorFlow knows, is compressed if its name ends in `.gz`.

    Raises:
      tf.errors.OpError: the file cannot be written.
    """
    data = trace.encode()
    if path.endswith(".gz"):
        data = gzip.compress(data, compresslevel=6)
    tf.io.gfile.makedirs(os.path.dirname(path) or ".")
    with atomic_output(path) as temporary, tf.io.gfile.GFile(temporary, "wb") as file:
        file.write(data)
