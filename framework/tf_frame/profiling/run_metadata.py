"""Run metadata: what to ask a run for, and how it gets into an event file."""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf


def run_options(session_target: str | bytes = "") -> Any:
    """The `RunOptions` with which a run returns what each operation did and when.

    In a session of this process, FULL_TRACE fails the run while any other
    profiler is at work, such as TensorBoard's button; SOFTWARE_TRACE does not,
    and has the same operations and memory records on a CPU. A session of a
    server answers SOFTWARE_TRACE with nothing (measured with TensorFlow 2.21).

    Args:
      session_target: the target of the session, such as `session.sess_str`;
        empty for a session of this process.
    """
    level = tf.RunOptions.FULL_TRACE if session_target else tf.RunOptions.SOFTWARE_TRACE
    return tf.RunOptions(trace_level=level)


def add_run_metadata(writer: Any, run_metadata: Any, tag: str, step: int | None = None) -> str:
    """Writes run metadata into an event file, for TensorBoard's graphs page.

    Args:
      writer: a `tf.compat.v1.summary.FileWriter`.
      run_metadata: the `RunMetadata`.
      tag: the name on the page. A writer takes every name once only, and steps
        are run again after a lost session: then `_2` and so on is added.
      step: the step of the event; None for 0, as the older hooks wrote it.

    Returns:
      The name that it got.
    """
    unique, number = tag, 1
    while True:
        try:
            writer.add_run_metadata(run_metadata, unique, step)
            return unique
        except ValueError:  # The name is taken: the one reason to refuse, and not to be asked for.
            number += 1
            unique = f"{tag}_{number}"
