"""Measures what profiling costs.

    python tools/bench/profiling.py [--operations 21500] [--rounds 5]

timeline: the processor time to make a Chrome trace of a step, by tf-frame and by TensorFlow's
`timeline.Timeline`, which take turns on the same run metadata; the table has medians of the
rounds, and the median of the ratios within a round. 21,500 operations have 100,000 events with
their arrows. The step is made up: operations of two
devices, eight at a time on each, with two inputs of earlier operations, one output and the
records of two allocations. TensorFlow's usual form is indented; the other rows are compact.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import time
from collections.abc import Callable, Mapping
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import tensorflow.compat.v1 as tf
from tensorflow.python.client.timeline import Timeline

from tf_frame.profiling.chrome_trace import chrome_trace

BEGIN = 1_790_000_000 * 10**9
AT_A_TIME = 8
TYPES = ("Conv2D", "FusedBatchNormV3", "Relu", "AddV2", "Mul", "ResourceApplyMomentum")


def made_up_step(operations: int) -> Any:
    """Run metadata of a step of that many operations."""
    draws = random.Random(0)
    metadata = tf.RunMetadata()
    devices = [
        metadata.step_stats.dev_stats.add(device=f"/job:localhost/replica:0/task:0/device:CPU:{n}")
        for n in range(2)
    ]
    names: list[str] = []
    for number in range(operations):
        kind = TYPES[number % len(TYPES)]
        name = f"model/block_{number % 97}/unit_{number % 13}/{kind}_{number}"
        # Those of the last ones may still run, as in a real record with its rounded times.
        inputs = [names[-draws.randint(1, 200)] for _ in range(2)] if number >= 200 else []
        begin = BEGIN + number // (2 * AT_A_TIME) * 20_000 + draws.randint(0, 2000)
        node = devices[number % 2].node_stats.add()
        set_times(node, begin, draws.randint(200, 18_000))
        node.node_name = name
        node.timeline_label = f"{name} = {kind}({', '.join(inputs)})"
        set_memory(node, begin // 1000, 1024 * draws.randint(1, 1000))
        names.append(name)
    return metadata


def set_times(node: Any, begin: int, took: int) -> None:
    """Sets begin and duration, in nanoseconds, of an operation."""
    node.all_start_nanos, node.all_end_rel_nanos = begin, took
    node.all_start_micros, node.all_end_rel_micros = begin // 1000, took // 1000


def set_memory(node: Any, micros: int, size: int) -> None:
    """Sets an output, and its allocation and release."""
    memory = node.output.add().tensor_description.allocation_description
    memory.requested_bytes, memory.allocator_name = size, "cpu"
    records = node.memory.add(allocator_name="cpu").allocation_records
    records.add(alloc_micros=micros, alloc_bytes=size)
    records.add(alloc_micros=micros + 500, alloc_bytes=-size)


def compact(metadata: Any, *, dataflow: bool, memory: bool) -> str:
    """TensorFlow's trace without indentation."""
    analysis = Timeline(metadata.step_stats).analyze_step_stats(
        show_dataflow=dataflow, show_memory=memory
    )
    return str(analysis.chrome_trace.format_to_string(pretty=False))


def usual(metadata: Any, *, dataflow: bool, memory: bool) -> str:
    """TensorFlow's trace by the function that everybody calls."""
    return str(
        Timeline(metadata.step_stats).generate_chrome_trace_format(
            show_dataflow=dataflow, show_memory=memory
        )
    )


WRITERS: Mapping[str, Callable[..., str]] = {
    "tf-frame": chrome_trace,
    "TensorFlow": usual,
    "TensorFlow, compact": compact,
}
# What is drawn, and the part of the operations. TensorFlow copies the set of living tensors at
# each new maximum of memory, which takes too long for a large step.
DRAWN = {
    "operations": ({"dataflow": False, "memory": False}, 1.0),
    "and arrows": ({"dataflow": True, "memory": False}, 1.0),
    "and memory": ({"dataflow": True, "memory": True}, 0.02),
}


def timeline(options: argparse.Namespace) -> None:
    """Prints the table of Chrome traces."""
    print(f"Chrome traces of a step, medians of {options.rounds} rounds")
    print("| operations | drawn | writer | events | MB | CPU secs | times tf-frame |")
    print("|---|---|---|---|---|---|---|")
    for drawn, (asked, part) in DRAWN.items():
        operations = int(options.operations * part)
        metadata = made_up_step(operations)
        secs: dict[str, list[float]] = {writer: [] for writer in WRITERS}
        traces: dict[str, str] = {}
        for _ in range(options.rounds):
            for writer, write in WRITERS.items():
                began = time.process_time()
                traces[writer] = write(metadata, **asked)
                secs[writer].append(time.process_time() - began)
        for writer, trace in traces.items():
            ratio = statistics.median(
                other / ours for other, ours in zip(secs[writer], secs["tf-frame"], strict=True)
            )
            events = len(json.loads(trace)["traceEvents"])
            print(
                f"| {operations} | {drawn} | {writer} | {events} | {len(trace) / 1e6:.1f} "
                f"| {statistics.median(secs[writer]):.2f} | {ratio:.1f} |",
                flush=True,
            )


def main() -> None:
    """Prints all tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--operations", type=int, default=21_500)
    parser.add_argument("--rounds", type=int, default=5)
    timeline(parser.parse_args())


if __name__ == "__main__":
    main()
