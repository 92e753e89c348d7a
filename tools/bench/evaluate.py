"""Measures seconds and memory of evaluations: in one kept graph, and in a new one each time.

    python tools/bench/evaluate.py [--evaluations 50] [--plugin deeplab] [--eval_steps 2] [--write]

A run that evaluates during training keeps graph and session, where tf.estimator built them anew;
the table shows what that saves, and whether memory grows. Each way evaluates in a process of its
own: a small convolutional network on random images, or the model and data of a plugin. The
checkpoints are of growing steps; they are written beforehand and come in turns.
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
from typing import Any

import numpy as np
from figure_file import write_table

_COLUMNS = ("", "first, s", "others, median s", "MB after the 1st", "5th")
WAYS = {"kept": "graph and session kept", "anew": "built anew each time"}
CHECKPOINTS = 5
EXAMPLES = 256
BATCH_SIZE = 32


class Images:
    """Random images of 32 x 32 points in 10 classes."""

    def dataset(self, mode: Any, context: Any) -> Any:
        """Returns batches of `[batch, 32, 32, 3]` images and `[batch]` labels."""
        import tensorflow as tf

        random = np.random.RandomState(0)
        images = random.rand(EXAMPLES, 32, 32, 3).astype(np.float32)
        labels = random.randint(0, 10, EXAMPLES)
        return tf.data.Dataset.from_tensor_slices((images, labels)).batch(context.batch_size)


class ConvNet:
    """Four convolutions, and a mean over the image."""

    def build(self, features: Any, labels: Any, mode: Any) -> Any:
        """Builds the network with its accuracy."""
        import tensorflow.compat.v1 as tf

        from tf_frame import ModelOutput, layers

        net = features
        for number, channels in enumerate([16, 32, 32, 10]):
            net = layers.conv2d(net, channels, 3, stride=1 + number % 2, scope=f"conv{number}")
        logits = tf.reduce_mean(net, [1, 2])
        loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
        accuracy = tf.metrics.accuracy(labels, tf.argmax(logits, 1))
        return ModelOutput(loss=loss, metrics={"accuracy": accuracy})


class Watched:
    """A model that counts the operations of the graphs in which it is built."""

    def __init__(self, model: Any) -> None:
        self._model, self._graph, self.operations = model, None, 0

    def build(self, *arguments: Any) -> Any:
        """Builds the model."""
        import tensorflow.compat.v1 as tf

        self._graph = tf.get_default_graph()
        return self._model.build(*arguments)

    def count(self) -> None:
        """Adds the number of operations of a new graph, and drops the reference to the graph."""
        if self._graph is not None:
            self.operations += len(self._graph.get_operations())
            self._graph = None


def parts(plugin: str | None) -> tuple[Any, Any, Any]:
    """Model, input and run options."""
    from tf_frame.config.run_options import RunOptions

    if plugin is None:
        return ConvNet(), Images(), RunOptions(eval_batch_size=BATCH_SIZE)
    from tf_frame.command_line.parsing import parse_command_line

    argv = ["--plugin", plugin]
    setup = parse_command_line(argv).setup()
    source = setup.make_input()
    return setup.make_model(source.info), source, setup.config


def write_checkpoints(folder: str, plugin: str | None) -> None:
    """Writes checkpoints of the initial values, of growing steps."""
    import tensorflow.compat.v1 as tf

    from tf_frame.graph.inference.eval_graph import build_eval_graph

    model, source, config = parts(plugin)
    graph = build_eval_graph(model=model, source=source, config=config)
    with graph.graph.as_default(), tf.Session() as session:
        session.run(tf.global_variables_initializer())
        saver = tf.train.Saver(max_to_keep=None)
        for step in range(1, CHECKPOINTS + 1):
            session.run(graph.global_step.assign(step))
            saver.save(session, os.path.join(folder, "model.ckpt"), global_step=step)


def measure(way: str, folder: str, options: argparse.Namespace) -> dict[str, Any]:
    """Evaluates, and returns the seconds and the resident memory after each evaluation."""
    from tf_frame.runs.evaluation.evaluator import Evaluator

    model, source, config = parts(options.plugin)
    watched = Watched(model)
    evaluator = Evaluator(model=watched, source=source, config=config, steps=options.eval_steps)
    seconds, megabytes = [], []
    for number in range(options.evaluations):
        path = os.path.join(folder, f"model.ckpt-{number % CHECKPOINTS + 1}")
        start = time.perf_counter()
        evaluator.evaluate(path)
        if way == "anew":
            evaluator.close()
        seconds.append(time.perf_counter() - start)
        megabytes.append(resident_megabytes())
        watched.count()
    return {"seconds": seconds, "megabytes": megabytes, "operations": watched.operations}


def resident_megabytes() -> float:
    """Memory of this process that is not swapped out."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def in_process(what: str, folder: str, options: argparse.Namespace) -> dict[str, Any]:
    """Measures, or writes the checkpoints, in a process of its own."""
    command = [sys.executable, __file__, "--one", what, folder]
    command += ["--evaluations", str(options.evaluations)]
    if options.plugin:
        command += ["--plugin", options.plugin]
    if options.eval_steps:
        command += ["--eval_steps", str(options.eval_steps)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def row(label: str, found: dict[str, Any]) -> list[str]:
    """The cells of a line of the table."""
    first, *others = found["seconds"]
    memory = found["megabytes"]
    growth = 100 * (memory[-1] / memory[4] - 1)
    cells = [label, f"{first:.2f}", f"{statistics.median(others):.3f}"]
    cells += [f"{each:.0f}" for each in (memory[0], memory[4], memory[-1])]
    return [*cells, f"{growth:.1f} %", str(found["operations"])]


def main() -> None:
    """Measures and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--evaluations", type=int, default=50, help="6 or more")
    parser.add_argument("--plugin", help="evaluate the model of this plugin on its own data")
    parser.add_argument("--eval_steps", type=int, help="batches at most; default: all")
    parser.add_argument("--write", action="store_true", help="write docs/figures/evaluate.json")
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.evaluations < 6:
        parser.error("--evaluations has to be 6 or more")
    if options.one:
        what, folder = options.one
        if what == "checkpoints":
            write_checkpoints(folder, options.plugin)
        found = {} if what == "checkpoints" else measure(what, folder, options)
        print(json.dumps(found))
        return
    last = options.evaluations
    heads = ["first s", "others s", "MB 1st", "MB 5th", f"MB {last}th", "growth", "ops"]
    print(" " * 24 + "".join(f"{head:>9}" for head in heads))
    with tempfile.TemporaryDirectory(dir=os.getcwd()) as folder:
        in_process("checkpoints", folder, options)
        rows = []
        for way, label in WAYS.items():
            rows.append(row(label, in_process(way, folder, options)))
            print(f"{label:<24}" + "".join(f"{cell:>9}" for cell in rows[-1][1:]), flush=True)
    if options.write:
        head = [*_COLUMNS, f"{last}th", "growth from the 5th", "operations built"]
        code = ["framework/tf_frame/runs/evaluation", "framework/tf_frame/graph/inference"]
        write_table(head, rows, code=code, table=options.plugin or "small")


if __name__ == "__main__":
    main()
