"""Measures the time per step of training loops, relative to a bare prepared session call.

    python tools/bench/loop.py [--only NAME] [--sessions 3] [--turns 10] [--block 2000] [--write]

`over` are the microseconds of a step that the loop takes more than the bare calls around it. A
ratio of 1 means that hooks, checkpoints and logging cost nothing beside the steps; see
docs/performance/loop.md for the targets.

Every row trains a linear model (8 examples of 3 numbers) on one batch of tf.data, repeated.
Within one session a block of steps by the loop and a block of bare calls
(`tf.Session.make_callable`) take turns, so that what differs between two sessions, or
between two minutes of the machine, is in both. A ratio is that of a block of the loop to
the mean of the two blocks of bare calls around it; the table has the median of all ratios
and, as their spread, the quartiles. Everything that the loop's hooks have written in the
background is awaited and flushed within the loop's time.

The bare call fetches what the row's loop needs: the loss; of a model that returns its own
train op, `[train_op, loss]`; with another watched tensor, this one too.

Hooks of the rows of tf-frame: stop, checkpoint by seconds, summaries every 100 steps, log
every 100, NaN guard, throughput, progress. Of `training.train` and of
`MonitoredTrainingSession`: stop, checkpoint by seconds, summaries and steps per second
every 100 steps; the latter has TensorFlow's own hooks, a log and a NaN check too.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import functools
import io
import os
import statistics
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import tensorflow as tf2
import tensorflow.compat.v1 as tf
from figure_file import write_table

from tf_frame import Input, InputInfo, Mode
from tf_frame.cluster import Cluster
from tf_frame.estimator import Estimator, EstimatorSpec, RunConfig
from tf_frame.hooks.background_writer import wait_for_background_writer
from tf_frame.hooks.base import Hook, Phase
from tf_frame.hooks.cadence import Multiples
from tf_frame.hooks.stock.nan_tensor import NanTensorHook
from tf_frame.hooks.stock.stop_at_step import StopAtStepHook
from tf_frame.hooks.training_clock import pause
from tf_frame.runs.setup.log_file import log_file
from tf_frame.runs.setup.run_context import RunContext, RunObserver
from tf_frame.runs.training.training import Training
from tf_frame.testing.session_runs import counted_runs
from tf_frame.testing.toy import WEIGHTS, ToyModel, make_setup
from tf_frame_legacy import training

_HEAD = ("", "bare call, µs", "loop, µs", "ratio (quartiles)", "processor time")
_FEATURES = np.random.RandomState(0).randn(8, 3).astype(np.float32)
_LABELS = _FEATURES @ WEIGHTS + 3.0


def _now() -> np.ndarray:
    """The time, and the processor time of all threads, in seconds."""
    return np.array([time.perf_counter(), time.process_time()])


@dataclasses.dataclass
class Turns:
    """Blocks of the loop and of the bare call that take turns in one session.

    Attributes:
      block: steps of a block.
      count: blocks of the loop that are measured; one more comes first, to warm up.
      loop, bare: time and processor time of each block.
    """

    block: int
    count: int
    loop: list[np.ndarray] = dataclasses.field(default_factory=list)
    bare: list[np.ndarray] = dataclasses.field(default_factory=list)

    @property
    def last_step(self) -> int:
        """The global step after the last block of the loop."""
        return self.block * (self.count + 1)

    def run_bare(self, call: Callable[[], object]) -> None:
        """Measures a block of bare calls."""
        began = _now()
        for _ in range(self.block):
            call()
        self.bare.append(_now() - began)

    def run_loop(self, run: Callable[[], object]) -> None:
        """Measures a block of a loop that returns after it."""
        began = _now()
        run()
        self.loop.append(_now() - began)

    def over(self) -> list[np.ndarray]:
        """The times of each block of the loop that are more than the bare calls around it."""
        around = zip(self.loop[1:], self.bare, self.bare[1:], strict=False)
        return [loop - (before + after) / 2 for loop, before, after in around]

    def ratios(self) -> list[np.ndarray]:
        """The ratio of each block of the loop to the bare calls around it."""
        around = zip(self.loop[1:], self.bare, self.bare[1:], strict=False)
        return [2 * loop / (before + after) for loop, before, after in around]


class TurnsHook(Hook):
    """Runs a block of bare calls after each block of steps of the loop that it is in.

    Args:
      turns: takes the times.
      fetches: returns what the bare call fetches; called when there is a session.
      model_dir: whose event file is flushed before a block of the loop has ended.
    """

    phase = Phase.STOP

    def __init__(self, turns: Turns, fetches: Callable[[], Any], model_dir: str) -> None:
        super().__init__(Multiples(turns.block))
        self._turns, self._fetches, self._model_dir = turns, fetches, model_dir

    def start(self, session: Any, step: int) -> None:
        super().start(session, step)
        self._call = session.make_callable(self._fetches())
        self._began = _now()

    def after_step(self, run_context: Any, run_values: Any, step: int) -> None:
        wait_for_background_writer()
        tf.summary.FileWriterCache.get(self._model_dir).flush()
        self._turns.loop.append(_now() - self._began)
        with pause():
            self._turns.run_bare(self._call)
        # Hooks and loop are not to see that there were more steps.
        session = run_context.session
        tf.train.get_global_step(session.graph).load(step, session)
        self._began = _now()


class OneBatch(Input):
    """The same batch again and again, so that the input costs next to nothing."""

    @property
    def info(self) -> InputInfo:
        return InputInfo(num_examples=dict.fromkeys(Mode, 8))

    def dataset(self, mode: Mode, context: Any) -> Any:
        return _dataset()


def _dataset() -> Any:
    return tf2.data.Dataset.from_tensors((_FEATURES, _LABELS)).repeat()


class TwoWatched(ToyModel):
    """The toy model with a hook that watches a tensor other than the loss."""

    def build(self, features: Any, labels: Any, mode: Mode) -> Any:
        output = super().build(features, labels, mode)
        total = tf.reduce_sum(tf.trainable_variables()[0], name="watched")
        return dataclasses.replace(output, hooks=[NanTensorHook(total)])


def own_update(
    turns: Turns, *, model: type = ToyModel, watched: str | None = None, **options: Any
) -> None:
    """Training of `tf-frame run`: an update of tf-frame's own, the default hooks."""
    options = {"log_every_n_steps": 100, "max_steps": turns.last_step, **options}
    setup = make_setup(model, OneBatch, tempfile.mkdtemp(), **options)

    def fetches() -> Any:
        loss = tf.get_default_graph().get_tensor_by_name("train_op:0")
        return [loss, loss.graph.get_tensor_by_name(watched)] if watched else loss

    context = RunContext(
        observer=RunObserver(lambda line: None, shows_progress=True),
        cluster=Cluster(),
        hooks=[TurnsHook(turns, fetches, setup.model_dir)],
    )
    source = setup.make_input()
    with _quiet(), log_file(setup.model_dir):
        model = setup.make_model(source.info)
        Training(setup, context, model=model, source=source).run()


def model_function(turns: Turns) -> None:
    """`Estimator.train` with a model function that returns its own train op."""
    made: dict[str, Any] = {}

    def model_fn(features: Any, labels: Any, mode: Any) -> Any:
        loss, train_op = _own_train_op(features, labels)
        made["fetches"] = [train_op, loss]
        return EstimatorSpec(mode, loss=loss, train_op=train_op)

    folder = tempfile.mkdtemp()
    config = RunConfig(model_dir=folder, save_summary_steps=100, log_step_count_steps=100)
    hooks = [TurnsHook(turns, lambda: made["fetches"], folder)]
    with _quiet():
        Estimator(model_fn, config=config).train(_dataset, hooks=hooks, max_steps=turns.last_step)


def smallest_step(turns: Turns) -> None:
    """`Estimator.train` with the smallest step: one product of 32 x 10, without data."""
    made: dict[str, Any] = {}

    def input_fn() -> Any:
        return tf.zeros([1, 32]), None

    def model_fn(features: Any, labels: Any, mode: Any) -> Any:
        weights = tf.get_variable("weights", [32, 10])
        loss = tf.reduce_sum(tf.matmul(features, weights))
        train_op = tf.train.get_global_step().assign_add(1, read_value=False)
        made["fetches"] = [train_op, loss]
        return EstimatorSpec(mode, loss=loss, train_op=train_op)

    folder = tempfile.mkdtemp()
    hooks = [TurnsHook(turns, lambda: made["fetches"], folder)]
    with _quiet():
        estimator = Estimator(model_fn, config=RunConfig(model_dir=folder))
        estimator.train(input_fn, hooks=hooks, max_steps=turns.last_step)


def legacy_training(turns: Turns) -> None:
    """`tf.contrib.training.train` of tf_frame_legacy."""
    folder = tempfile.mkdtemp()
    with tf.Graph().as_default(), _quiet():
        tf.train.create_global_step()
        train_op = training.create_train_op(_loss(*_next()), _optimizer())
        tf.summary.scalar("loss", train_op)
        hooks = [
            StopAtStepHook(last_step=turns.last_step),
            TurnsHook(turns, lambda: train_op, folder),
        ]
        training.train(train_op, folder, hooks=hooks)


def monitored_training_session(turns: Turns) -> None:
    """`MonitoredTrainingSession` with TensorFlow's own hooks."""
    with tf.Graph().as_default(), _quiet():
        tf.train.create_global_step()
        loss, train_op = _own_train_op(*_next())
        tf.summary.scalar("loss", loss)
        hooks = [
            tf.train.StopAtStepHook(last_step=10**9),
            tf.train.NanTensorHook(loss),
            tf.train.LoggingTensorHook({"loss": loss}, every_n_iter=100),
        ]
        with tf.train.MonitoredTrainingSession(
            checkpoint_dir=tempfile.mkdtemp(), hooks=hooks, save_summaries_steps=100
        ) as session:
            raw = session.run_step_fn(lambda step_context: step_context.session)
            bare = raw.make_callable([train_op, loss])
            for _ in range(turns.count + 1):
                turns.run_loop(lambda: [session.run([train_op, loss]) for _ in range(turns.block)])
                turns.run_bare(bare)


def keras(turns: Turns, *, steps_per_execution: int) -> None:
    """`Model.fit` of Keras; the bare call is that of a graph beside it."""
    model = tf2.keras.Sequential([tf2.keras.Input([3]), tf2.keras.layers.Dense(1)])
    model.compile(
        tf2.keras.optimizers.SGD(0.01, momentum=0.9), "mse", steps_per_execution=steps_per_execution
    )
    data = _dataset().prefetch(2)
    with tf.Graph().as_default():
        tf.train.create_global_step()
        loss, train_op = _own_train_op(*_next())
        session = tf.Session()
        session.run(tf.global_variables_initializer())
        bare = session.make_callable([train_op, loss])
    with contextlib.closing(session), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Keras warns of unshuffled input.
        for _ in range(turns.count + 1):
            turns.run_loop(lambda: model.fit(data, steps_per_epoch=turns.block, verbose=0))
            turns.run_bare(bare)


def _next() -> tuple[Any, Any]:
    features, labels = tf.data.make_one_shot_iterator(_dataset()).get_next()
    return features, labels


def _loss(features: Any, labels: Any) -> Any:
    weights = tf.get_variable("weights", [3, 1], initializer=tf.zeros_initializer())
    bias = tf.get_variable("biases", [1], initializer=tf.zeros_initializer())
    return tf.reduce_mean(tf.square(tf.matmul(features, weights) + bias - labels))


def _optimizer() -> Any:
    return tf.train.MomentumOptimizer(0.01, 0.9)


def _own_train_op(features: Any, labels: Any) -> tuple[Any, Any]:
    loss = _loss(features, labels)
    return loss, _optimizer().minimize(loss, global_step=tf.train.get_global_step())


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    with contextlib.redirect_stdout(io.StringIO()):
        yield
    tf.summary.FileWriterCache.clear()


ROWS: dict[str, Callable[[Turns], None]] = {
    "tf-frame, default hooks": own_update,
    "tf-frame, --steps_per_loop 100": functools.partial(own_update, steps_per_loop=100),
    "tf-frame, another tensor watched": functools.partial(
        own_update, model=TwoWatched, watched="watched:0"
    ),
    "Estimator, model function": model_function,
    "smallest step, model function": smallest_step,
    "legacy.training.train": legacy_training,
    "MonitoredTrainingSession": monitored_training_session,
    "Keras fit": functools.partial(keras, steps_per_execution=1),
    "Keras fit, steps_per_execution=100": functools.partial(keras, steps_per_execution=100),
}
# Slow rows, of which few blocks say enough.
_FEWER_TURNS = ("MonitoredTrainingSession", "Keras fit")


def count_calls(row: Callable[[Turns], None]) -> str:
    """Calls of sessions in 200 steps without the bare ones, for they do not depend on the time."""
    turns = Turns(block=200, count=0)
    with counted_runs() as count:
        row(turns)
    return f"{count.calls - turns.block:5d} {count.runs:5d} {count.prepared - 1:5d}"


def main() -> None:
    """Prints a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="only rows whose name has this in it")
    parser.add_argument("--sessions", type=int, default=3, help="sessions of a row")
    parser.add_argument("--turns", type=int, default=10, help="blocks of the loop in a session")
    parser.add_argument("--block", type=int, default=2000, help="steps of a block")
    parser.add_argument("--write", action="store_true", help="write docs/figures/loop.json")
    argv = parser.parse_args()
    tf.logging.set_verbosity(tf.logging.ERROR)
    rows = {name: row for name, row in ROWS.items() if argv.only in name}
    print(f"{'':<36}us per step                 ratio            ratio of")
    print(f"{'':<36} bare   loop   over     median (quartiles)     processor time")
    table = []
    for name, row in rows.items():
        fewer = name.startswith(_FEWER_TURNS)
        count = max(2, argv.turns // 3) if fewer else argv.turns
        done = [Turns(argv.block, count) for _ in range(1 if fewer else argv.sessions)]
        for turns in done:
            row(turns)
        bare, loop, over, ratio, cpu = _figures(done)
        print(f"{name:<36}{bare:>6} {loop:>6} {over:>6}   {ratio:>22}   {cpu:>6}", flush=True)
        table.append([name, bare, loop, ratio, cpu])
    if argv.write:
        graph = "framework/tf_frame/graph"
        code = [f"{graph}/prepared_call.py", f"{graph}/step_loop.py", "framework/tf_frame/session"]
        write_table(_HEAD, table, code=code)
    print(f"\n{'in 200 steps':<36}prepared calls, other runs, preparations")
    for name, row in rows.items():
        if not name.startswith("Keras"):
            print(f"{name:<36}{count_calls(row)}", flush=True)


def _figures(done: Sequence[Turns]) -> tuple[str, ...]:
    bare, loop, over = (
        statistics.median(float(times[0]) for times in blocks) / done[0].block * 1e6
        for blocks in (
            [block for turns in done for block in turns.bare],
            [block for turns in done for block in turns.loop[1:]],
            [block for turns in done for block in turns.over()],
        )
    )
    ratios = np.array([ratio for turns in done for ratio in turns.ratios()])
    (first, middle, third), (_, cpu, _) = np.percentile(ratios, [25, 50, 75], axis=0).T
    ratio = f"{middle:.2f} ({first:.2f} to {third:.2f})"
    return f"{bare:.1f}", f"{loop:.1f}", f"{over:.1f}", ratio, f"{cpu:.2f}"


if __name__ == "__main__":
    main()
