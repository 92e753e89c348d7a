"""Measures what profiling adds to training steps.

    python tools/bench/profiled_steps.py [--plugin deeplab] [--rounds 7] [--steps 10] [--write]

calls: session calls of 200 steps with default hooks, and with a profile that is asked for later.
step times: processor time of noting a step's duration, which every step does.
steps: blocks of steps of the plugin's training graph take turns, all in one session: plain, with
run metadata, in a capture, and both; medians of the rounds, and of the ratios to the plain block of
the same round. Then the seconds of beginning and writing a capture, and of one timeline.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import tensorflow.compat.v1 as tf
from figure_file import write_table

from tf_frame.cluster import Cluster
from tf_frame.command_line.parsing import parse_command_line
from tf_frame.config.run_options import RunOptions
from tf_frame.deploy.session_config import make_deployment, session_config
from tf_frame.hooks.profile import ProfileHook
from tf_frame.hooks.stock.stop_at_step import StopAtStepHook
from tf_frame.hooks.training_clock import training_clock
from tf_frame.profiling.capture import Capture, step_marker
from tf_frame.profiling.chrome_trace import chrome_trace
from tf_frame.profiling.run_metadata import run_options, write_trace
from tf_frame.profiling.step_times import StepTimes
from tf_frame.runs.training.build import build_graph
from tf_frame.session.loop import TrainingLoop
from tf_frame.session.schedule import Schedule
from tf_frame.testing.session_runs import counted_runs
from tf_frame.testing.toy import build_toy_graph

WARMUP = 3


def calls() -> None:
    """Prints the session calls of a loop without and with a profile that is off."""
    found = []
    for hooks in ([], [ProfileHook("", at_steps=[10**6])]):
        graph = build_toy_graph(RunOptions(train_batch_size=8))
        with graph.graph.as_default(), counted_runs() as count:
            loop = TrainingLoop(graph, Schedule([*hooks, StopAtStepHook(last_step=200)]))
            with tf.train.MonitoredSession(
                tf.train.ChiefSessionCreator(graph.scaffold), hooks=loop.hooks
            ) as session:
                loop.run(session)
        found.append(f"{count.calls} prepared calls and {count.runs} other runs")
    print(f"200 steps: {found[0]}; with a profile that is off: {found[1]}")


def step_times(steps: int = 200_000) -> None:
    """Prints the processor time of noting a step."""
    times = StepTimes()
    note = times.step
    began = time.process_time()
    for _ in range(steps):
        note(training_clock())
    print(f"noting a step's duration: {(time.process_time() - began) / steps * 1e6:.2f} µs a step")


class Blocks:
    """Runs blocks of steps of a training graph, with and without profilers."""

    def __init__(self, session: Any, train_op: Any, steps: int, folder: str) -> None:
        self._session, self._train_op = session, train_op
        self._steps, self._folder = steps, folder
        self.began: list[float] = []
        self.saved: list[float] = []

    def run(self, *, metadata: bool, capture: bool) -> float:
        """Returns the seconds of a step of a block, without those of beginning and writing."""
        made = Capture(self._folder, label="bench", task="worker_0") if capture else None
        if made is not None:
            self.began.append(elapsed(made.start))
        secs = elapsed(lambda: self._run_steps(metadata)) / self._steps
        if made is not None:
            self.saved.append(elapsed(made.save))
        return secs

    def _run_steps(self, metadata: bool) -> None:
        for step in range(self._steps):
            with step_marker(step):
                if metadata:
                    self.traced()
                else:
                    self._session.run(self._train_op, options=tf.RunOptions())

    def traced(self) -> Any:
        """Runs a step with run metadata, and returns these."""
        metadata = tf.RunMetadata()
        self._session.run(self._train_op, options=run_options(), run_metadata=metadata)
        return metadata


def elapsed(function: Callable[[], Any]) -> float:
    """Returns the seconds that a call takes."""
    began = time.perf_counter()
    function()
    return time.perf_counter() - began


def measure_steps(plugin: str, rounds: int, steps: int) -> list[list[str]]:
    """Prints the table of the steps of a plugin's training graph, and returns its rows."""
    with tempfile.TemporaryDirectory() as folder:
        words = ["--plugin", plugin, "--model_dir", os.path.join(folder, "run")]
        setup = parse_command_line(words).setup()
        source = setup.make_input()
        deployment = make_deployment(setup.config, Cluster())
        model = setup.make_model(source.info)
        graph = build_graph(setup, model=model, source=source, deployment=deployment)
        proto = session_config(setup.config, deployment, Cluster())
        with (
            graph.graph.as_default(),
            tf.train.MonitoredSession(
                tf.train.ChiefSessionCreator(graph.scaffold, config=proto), hooks=graph.hooks
            ) as monitored,
        ):
            session = monitored.run_step_fn(lambda step_context: step_context.session)
            blocks = Blocks(session, graph.train_op, steps, folder)
            rows = print_blocks(blocks, rounds)
            secs = elapsed(lambda: chrome_trace(blocks.traced()))
            trace = chrome_trace(blocks.traced())
            written = elapsed(lambda: write_trace(os.path.join(folder, "a.json.gz"), trace))
            print(
                f"one timeline: step and trace {secs:.3f} s, {len(trace) / 1e6:.2f} MB; "
                f"compressed and written {written:.3f} s"
            )
    return rows


def print_blocks(blocks: Blocks, rounds: int) -> list[list[str]]:
    """Prints a row for each kind of block, and returns the rows."""
    kinds = {
        "nothing": {"metadata": False, "capture": False},
        "run metadata": {"metadata": True, "capture": False},
        "capture": {"metadata": False, "capture": True},
        "both": {"metadata": True, "capture": True},
    }
    for kind in list(kinds.values())[:WARMUP]:
        blocks.run(**kind)
    secs: dict[str, list[float]] = {name: [] for name in kinds}
    for _ in range(rounds):
        for name, kind in kinds.items():
            secs[name].append(blocks.run(**kind))
    rows = []
    print("| | ms a step | ratio (smallest to largest) |\n|---|---|---|")
    for name, values in secs.items():
        ratios = [one / bare for one, bare in zip(values, secs["nothing"], strict=True)]
        ratio = f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
        rows.append([name, f"{statistics.median(values) * 1e3:.1f}", ratio])
        print(f"| {' | '.join(rows[-1])} |")
    print(
        f"beginning a capture: {statistics.median(blocks.began) * 1e3:.1f} ms; "
        f"writing it: {statistics.median(blocks.saved):.2f} s"
    )
    return rows


def main() -> None:
    """Prints all figures."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--plugin", default="deeplab")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument(
        "--write", action="store_true", help="write docs/figures/profiled_steps.json"
    )
    options = parser.parse_args()
    calls()
    step_times()
    rows = measure_steps(options.plugin, options.rounds, options.steps)
    if options.write:
        head = ["", "ms a step", "ratio to the plain block of the round"]
        profiling = "framework/tf_frame/profiling"
        names = ("capture.py", "run_metadata.py", "recorder.py")
        write_table(head, rows, code=[f"{profiling}/{name}" for name in names])


if __name__ == "__main__":
    main()
