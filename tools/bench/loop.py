"""What a step costs: the bare prepared call, tf-frame's loop, and others, on one tiny graph.

    python tools/bench/loop.py [--steps 4000] [--repetitions 15]

Every way trains the same linear model (8 examples of 3 numbers, momentum, a
global step) on the same tf.data input (one batch, repeated). All of them run
in turns, and the medians of the repetitions are shown. A repetition makes its
own session and folder; its first 300 steps are left out.

The hooks: stop, checkpoint by seconds, summaries every 100 steps, log every 100,
NaN guard, throughput, progress. TensorFlow's own: StopAtStepHook, checkpoint by
seconds, summaries every 100 steps, LoggingTensorHook every 100, NanTensorHook,
StepCounterHook.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import tensorflow as tf2
import tensorflow.compat.v1 as tf

from tf_frame import Input, InputInfo, Mode
from tf_frame.cluster import Cluster
from tf_frame.deploy.session_config import make_deployment, session_config
from tf_frame.estimator.training.context import RunContext, RunObserver
from tf_frame.estimator.training.hooks import make_hooks
from tf_frame.estimator.training.log_file import log_file
from tf_frame.estimator.training.train import build_graph, make_loop
from tf_frame.hooks.base import Hook, Phase
from tf_frame.hooks.cadence import Cadence
from tf_frame.hooks.input_position import RestoredCheckpoint
from tf_frame.session.monitored import monitored_session
from tf_frame.testing.session_runs import counted_runs
from tf_frame.testing.toy import WEIGHTS, ToyModel, make_setup

_WARMUP = 300
_FEATURES = np.random.RandomState(0).randn(8, 3).astype(np.float32)
_LABELS = _FEATURES @ WEIGHTS + 3.0


class OneBatch(Input):
    """The same batch again and again, so that the input costs next to nothing."""

    @property
    def info(self) -> InputInfo:
        return InputInfo(num_examples=dict.fromkeys(Mode, 8))

    def dataset(self, mode: Mode, context: Any) -> Any:
        return tf2.data.Dataset.from_tensors((_FEATURES, _LABELS)).repeat()


class Clock(Hook):
    """Notes the time at two steps."""

    phase = Phase.STOP

    def __init__(self, first: int, last: int) -> None:
        super().__init__(Cadence(at_steps=[first, last]))
        self.times: list[float] = []

    def after_step(self, run_context: Any, run_values: Any, step: int) -> None:
        self.times.append(time.perf_counter())


def bare(steps: int) -> float:
    """A prepared call of the train op, in a loop and nothing else."""
    graph, _ = _graph()
    with (
        graph.graph.as_default(),
        tf.train.SingularMonitoredSession(scaffold=graph.scaffold) as monitored,
    ):
        call = monitored.raw_session().make_callable(graph.train_op)
        for _ in range(_WARMUP):
            call()
        start = time.perf_counter()
        for _ in range(steps):
            call()
        return (time.perf_counter() - start) / steps


def tf_frame_loop(steps: int, **options: Any) -> float:
    """tf-frame's loop with its default hooks."""
    clock = Clock(_WARMUP, _WARMUP + steps)
    _train(_WARMUP + steps + 1, [clock], **options)
    return (clock.times[1] - clock.times[0]) / steps


def _train(last_step: int, more_hooks: list[Any], **options: Any) -> None:
    graph, setup = _graph(max_steps=last_step, **options)
    observer = RunObserver(lambda line: None, shows_progress=True)
    context = RunContext(observer=observer, cluster=Cluster())
    with (
        graph.graph.as_default(),
        contextlib.redirect_stdout(io.StringIO()),
        log_file(setup.model_dir),
    ):
        made = make_hooks(
            setup, context, graph, source=setup.make_input(), restored=RestoredCheckpoint()
        )
        hooks = [*made.all, *more_hooks]
        loop = make_loop(setup.config, graph, hooks, report=print)
        with monitored_session(
            graph,
            hooks=loop.hooks,
            model_dir=setup.model_dir,
            cluster=Cluster(),
            config=session_config(setup.config, make_deployment(setup.config, Cluster())),
        ) as session:
            loop.run(session)
    tf.summary.FileWriterCache.clear()


def monitored(steps: int) -> float:
    """`MonitoredTrainingSession` with TensorFlow's own hooks."""
    graph, setup = _graph()
    with graph.graph.as_default():
        graph.scaffold._summary_op = graph.summary_op
        hooks = [
            tf.train.StopAtStepHook(last_step=_WARMUP + steps + 1),
            tf.train.NanTensorHook(graph.train_op),
            tf.train.LoggingTensorHook({"loss": graph.train_op}, every_n_iter=100),
        ]
        with tf.train.MonitoredTrainingSession(
            checkpoint_dir=setup.model_dir,
            scaffold=graph.scaffold,
            hooks=hooks,
            save_checkpoint_secs=600,
            save_summaries_steps=100,
            log_step_count_steps=100,
        ) as session:
            for _ in range(_WARMUP):
                session.run(graph.train_op)
            start = time.perf_counter()
            for _ in range(steps):
                session.run(graph.train_op)
            taken = time.perf_counter() - start
    tf.summary.FileWriterCache.clear()
    return taken / steps


def keras(steps: int, steps_per_execution: int) -> float:
    """`Model.fit` of Keras."""
    dataset = tf2.data.Dataset.from_tensors((_FEATURES, _LABELS)).repeat().prefetch(2)
    model = tf2.keras.Sequential([tf2.keras.Input([3]), tf2.keras.layers.Dense(1)])
    model.compile(
        tf2.keras.optimizers.SGD(0.01, momentum=0.9),
        "mse",
        steps_per_execution=steps_per_execution,
    )
    model.fit(dataset, steps_per_epoch=_WARMUP, verbose=0)
    start = time.perf_counter()
    model.fit(dataset, steps_per_epoch=steps, verbose=0)
    return (time.perf_counter() - start) / steps


def _graph(**options: Any) -> tuple[Any, Any]:
    options = {"log_every_n_steps": 100, "max_steps": 10**9, **options}
    setup = make_setup(
        ToyModel,
        OneBatch,
        tempfile.mkdtemp(),
        learning_rate=0.01,
        **{name: value for name, value in options.items() if name != "learning_rate"},
    )
    source = setup.make_input()
    deployment = make_deployment(setup.config, Cluster())
    graph = build_graph(
        setup, model=setup.make_model(source.info), source=source, deployment=deployment
    )
    return graph, setup


WAYS: dict[str, Callable[[int], float]] = {
    "bare prepared call": bare,
    "tf-frame, default hooks": tf_frame_loop,
    "tf-frame, --steps_per_loop 100": lambda steps: tf_frame_loop(steps, steps_per_loop=100),
    "MonitoredTrainingSession": monitored,
    "Keras fit": lambda steps: keras(steps, 1),
    "Keras fit, steps_per_execution=100": lambda steps: keras(steps, 100),
}


def count_runs() -> dict[str, int]:
    """Session runs of 200 steps when checkpoints go by steps and by seconds."""
    counts = {}
    by_steps = {"save_checkpoint_steps": 1000, "save_checkpoint_secs": None}
    for name, options in (("by seconds", {}), ("by steps", by_steps)):
        with counted_runs() as count:
            _train(200, [], **options)
        counts[name] = count.runs + count.calls
    return counts


def main() -> None:
    """Prints a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=4000)
    parser.add_argument("--repetitions", type=int, default=15)
    parser.add_argument("--only", default="", help="only ways whose name has this in it")
    words = parser.parse_args()
    tf.logging.set_verbosity(tf.logging.ERROR)
    ways = {n: way for n, way in WAYS.items() if words.only in n or way is bare}
    seen: dict[str, list[float]] = {name: [] for name in ways}
    for number in range(words.repetitions):
        for name, way in ways.items():
            seen[name].append(way(words.steps) * 1e6)
        print(f"repetition {number + 1} of {words.repetitions}", file=sys.stderr)
    print(f"{'':<36} us/step   over bare   (median of the repetitions' own ratios)")
    base = seen["bare prepared call"]
    for name, times in seen.items():
        ratio = statistics.median(times) / statistics.median(base)
        paired = statistics.median(t / b for t, b in zip(times, base, strict=True))
        print(f"{name:<36} {statistics.median(times):7.1f}   {ratio:9.2f}   ({paired:.2f})")
    for name, count in count_runs().items():
        print(f"session runs for 200 steps, {name}: {count}")


if __name__ == "__main__":
    main()
