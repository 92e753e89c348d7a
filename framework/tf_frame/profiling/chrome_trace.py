"""Chrome traces: the operations of one run as bars over time, for ui.perfetto.dev.

The format is the "Trace Event Format" of the Catapult project.
"""

from __future__ import annotations

import gzip
import json
import os
from typing import Any

import tensorflow.compat.v1 as tf

# There is no public way from run metadata to a Chrome trace.
from tensorflow.python.client.timeline import Timeline

from tf_frame.profiling.whole_file import whole_or_not_there

# The clock of run metadata counts in these; what is shorter would have no length.
_SHORTEST_MICROS = 1


def chrome_trace(run_metadata: Any, *, dataflow: bool = True, memory: bool = False) -> str:
    """Draws the operations of a run.

    Every event has `ph`, `pid`, `tid` and `ts`. An operation that took less
    than a microsecond is drawn one microsecond long.

    Args:
      run_metadata: the `RunMetadata` of the run; it is left as it is.
      dataflow: also draw arrows from who made a tensor to who read it.
      memory: also draw when each tensor lived, and a curve of their bytes. The
        curve knows outputs only, not what an operation needs while it runs.

    Returns:
      JSON in one line.
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
    """Writes a Chrome trace, whole or not at all; folders that are missing are made.

    Args:
      path: where to, on any file system that TensorFlow knows; a path that
        ends in `.gz` is written compressed.
      trace: the JSON.

    Raises:
      tf.errors.OpError: the file cannot be written.
    """
    data = trace.encode()
    if path.endswith(".gz"):
        data = gzip.compress(data)
    tf.io.gfile.makedirs(os.path.dirname(path) or ".")
    with whole_or_not_there(path) as partial, tf.io.gfile.GFile(partial, "wb") as file:
        file.write(data)


def _one_entry_per_device(step_stats: Any) -> Any:
    """Copies statistics and joins entries of the same device.

    A session of a server lists each device twice, and `Timeline` would draw
    the first as an empty row. It also changes the thread ids that it is given.
    """
    devices: dict[str, Any] = {}
    joined = type(step_stats)()
    for dev_stats in step_stats.dev_stats:
        if dev_stats.device not in devices:
            devices[dev_stats.device] = joined.dev_stats.add(device=dev_stats.device)
        devices[dev_stats.device].node_stats.extend(dev_stats.node_stats)
    return joined
