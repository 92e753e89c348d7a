"""Measures the time by which saving a checkpoint delays a training step.

    python tools/bench/checkpoint.py [--megabytes 4 40 160] [--saves 9] [--reference_variables]
        [--write]

It tells what `--async_checkpoint` gains for a model of that size, and compares TensorFlow's hook.
Each way of saving trains in a process of its own, saves every fourth step into a
folder on disk, and times the steps. The stall is what a step with a save takes
longer than the median step without one; the table holds medians.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

from figure_file import write_table

WAYS = ("synchronous", "asynchronous", "tf.train.CheckpointSaverHook")
# Long enough that the asynchronous write of one save is over before the next.
EVERY_STEPS = 4
VARIABLES = 10


def make_hook(way: str, folder: str, saver: object) -> object:
    """The hook that saves in one of the ways."""
    import tensorflow.compat.v1 as tf

    from tf_frame.hooks.checkpoint import CheckpointHook

    if way == WAYS[2]:
        return tf.train.CheckpointSaverHook(
            folder, save_steps=EVERY_STEPS, saver=saver, save_graph_def=False
        )
    scaffold = tf.train.Scaffold(saver=saver)
    return CheckpointHook(
        folder, scaffold, every_steps=EVERY_STEPS, asynchronous=way == "asynchronous"
    )


def measure(way: str, megabytes: int, saves: int, reference_variables: bool) -> list[float]:
    """Trains, and returns the stall of each save in milliseconds."""
    import tensorflow.compat.v1 as tf

    from tf_frame.graph.global_step import read_step_after

    tf.disable_eager_execution()
    if reference_variables:
        tf.disable_resource_variables()
    else:
        tf.enable_resource_variables()
    shape = [megabytes * 1_000_000 // (4 * VARIABLES)]
    weights = [
        tf.get_variable(f"weights_{i}", shape, initializer=tf.ones_initializer())
        for i in range(VARIABLES)
    ]
    step = tf.train.create_global_step()
    # A cheap step that changes all variables.
    update = tf.group(*[w.assign_add(tf.ones(shape)) for w in weights])
    with tf.control_dependencies([update]):
        train_op = tf.group(step.assign_add(1))
    read_step_after([train_op], step)
    with tempfile.TemporaryDirectory(dir=os.getcwd()) as folder:
        hook = make_hook(way, folder, tf.train.Saver(max_to_keep=2))
        creator = tf.train.ChiefSessionCreator()
        with tf.train.MonitoredSession(creator, hooks=[hook]) as session:
            return stalls(session, train_op, step, hook, saves)


def stalls(
    session: object, train_op: object, step: object, hook: object, saves: int
) -> list[float]:
    """Times steps, those with a save and those without one."""
    with_save, without = [], []
    for number in range(1, (saves + 1) * EVERY_STEPS + 1):
        start = time.perf_counter()
        session.run(train_op)
        (without if number % EVERY_STEPS else with_save).append(time.perf_counter() - start)
        if hasattr(hook, "wait") and number % EVERY_STEPS == EVERY_STEPS - 1:
            hook.wait()
    plain = statistics.median(without)
    return [1000 * (seconds - plain) for seconds in with_save[1:]]  # The first one warms up.


def in_process(way: str, megabytes: int, options: argparse.Namespace) -> list[float]:
    """Measures in a process of its own."""
    command = [sys.executable, __file__, "--saves", str(options.saves)]
    command += ["--one", way, str(megabytes)]
    if options.reference_variables:
        command.append("--reference_variables")
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    values: list[float] = json.loads(done.stdout.splitlines()[-1])
    return values


def main() -> None:
    """Measures and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--megabytes", type=int, nargs="+", default=[4, 40, 160])
    parser.add_argument("--saves", type=int, default=9, help="saves that are timed")
    parser.add_argument("--reference_variables", action="store_true")
    parser.add_argument("--write", action="store_true", help="write docs/figures/checkpoint.json")
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        way, megabytes = options.one
        found = measure(way, int(megabytes), options.saves, options.reference_variables)
        print(json.dumps(found))
        return
    print(f"{'stall per save, ms':<32}{'median':>9}{'lowest':>9}{'highest':>9}")
    rows = []
    for megabytes in options.megabytes:
        rows.append([f"{megabytes} MB"])
        for way in WAYS:
            values = in_process(way, megabytes, options)
            median = statistics.median(values)
            rows[-1].append(f"{median:.0f}")
            label = f"{megabytes:>4} MB  {way}"
            print(f"{label:<38}{median:8.1f}{min(values):9.1f}{max(values):9.1f}", flush=True)
    if options.write:
        head = ["variables", WAYS[0], "`--async_checkpoint`", f"`{WAYS[2]}`"]
        code = [
            f"framework/tf_frame/hooks/{name}.py" for name in ("checkpoint", "background_writer")
        ]
        write_table(head, rows, code=code)


if __name__ == "__main__":
    main()
