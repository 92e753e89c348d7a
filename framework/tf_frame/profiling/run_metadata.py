"""Traces session runs as `tf.RunMetadata`, for TensorBoard and as Chrome traces.

    metadata = tf.RunMetadata()
    session.run(train_op, options=run_options(session.sess_str), run_metadata=metadata)
    write_trace("timeline.json", chrome_trace(metadata))   # for ui.perfetto.dev

They show when each operation ran, how long, and on which device. Traces are in the "Trace Event
Format" of the Catapult project.
"""

from __future__ import annotations

import gzip
import json
import os
from typing import Any

import tensorflow.compat.v1 as tf

# There is no public way from run metadata to a Chrome trace.
from tensorflow.python.client.timeline import Timeline

from tf_frame.atomic_output import atomic_output

# Run metadata counts whole microseconds; a shorter bar would have no length.
_SHORTEST_MICROS = 1


def run_options(session_target: str | bytes = "") -> Any:
    """The `RunOptions` of a traced run, which returns times and devices of all operations.

    In a session of this process, FULL_TRACE fails the run while any other
    profiler is active, such as TensorBoard's button; SOFTWARE_TRACE does not,
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
      The name under which it was written.
    """
    unique, number = tag, 1
    while True:
        try:
            writer.add_run_metadata(run_metadata, unique, step)
            return unique
        except ValueError:  # The tag is taken; the writer has no other ValueError.
            number += 1
            unique = f"{tag}_{number}"


def chrome_trace(run_metadata: Any, *, dataflow: bool = True, memory: bool = False) -> str:
    """Draws the operations of a run.

    Every event has `ph`, `pid`, `tid` and `ts`. An operation that took less
    than a microsecond is drawn one microsecond long.

    Args:
      run_metadata: the `RunMetadata` of the run; it is not changed.
      dataflow: also draw arrows from the producer of a tensor to its consumers.
      memory: also draw when each tensor lived, and a curve of their bytes: those of
        outputs, without the memory that an operation needs while it runs.

    Returns:
      The trace, as JSON in one line.
    """
    timeline = Timeline(_one_entry_per_device(run_metadata.step_stats))
    analysis = timeline.analyze_step_stats(show_dataflow=dataflow, show_memory=memory)
    trace = json.loads(analysis.chrome_trace.format_to_string(pretty=False))
    for event in trace["traceEvents"]:
        event.setdefault("tid", 0)
        event.setdefault("ts", 0)
        if event["ph"] == "X":
            event["dur"] = max(event["dur"], _SHORTEST_MICROS)
    return json.dumps(trace, separators=(",", ":"))


def write_trace(path: str, trace: str) -> None:
    """Writes a Chrome trace, whole or not at all; makes missing folders.

    Args:
      path: the file, on any file system that TensorFlow knows; compressed if its name
        ends in `.gz`.
      trace: the JSON.

    Raises:
      tf.errors.OpError: the file cannot be written.
    """
    data = trace.encode()
    if path.endswith(".gz"):
        data = gzip.compress(data)
    tf.io.gfile.makedirs(os.path.dirname(path) or ".")
    with atomic_output(path) as temporary, tf.io.gfile.GFile(temporary, "wb") as file:
        file.write(data)


def _one_entry_per_device(step_stats: Any) -> Any:
    """Copies statistics and joins entries of the same device.

    A session of a server lists each device twice, and `Timeline` would draw
    the first as an empty row. `Timeline` also changes the thread ids in its argument.
    """
    devices: dict[str, Any] = {}
    joined = type(step_stats)()
    for dev_stats in step_stats.dev_stats:
        if dev_stats.device not in devices:
            devices[dev_stats.device] = joined.dev_stats.add(device=dev_stats.device)
        devices[dev_stats.device].node_stats.extend(dev_stats.node_stats)
    return joined
