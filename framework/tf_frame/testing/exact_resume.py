"""A check for the tests of input plugins: a resumed run gets exactly the next batches.

A test constructs the input and calls the check:

    def test_the_input_resumes_exactly():
        check_exact_resume(MyInput(params=MyInput.Params()), batch_size=4, steps=10)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

from tf_frame.config.run_options import RunOptions
from tf_frame.deploy.deployment_config import DeploymentConfig
from tf_frame.errors import DataError
from tf_frame.graph.inputs.pipeline import make_batches, make_eval_batch
from tf_frame.graph.inputs.position import make_input_position
from tf_frame.plugin import InputContext, Mode
from tf_frame.types import Session

__all__ = ["check_exact_resume"]

_Batch = Sequence[Any]


def check_exact_resume(
    source: Any, *, batch_size: int, steps: int, seed: int = 1, num_clones: int = 1
) -> None:
    """Checks that training data continues exactly from the position of every step.

    The input pipeline is built as in a training run, and its position is saved before
    the first step and after every step. Then the pipeline is built again; from each
    position it must yield the remaining batches, byte for byte.

    Args:
      source: the input plugin, constructed.
      batch_size: examples per batch of one clone.
      steps: batches per clone; more than one epoch also tests that the epochs are
        shuffled in the same way.
      seed: value of `context.seed`.
      num_clones: number of clones, which take batches in turns.

    Raises:
      AssertionError: the position cannot be saved, or a batch differs; the message
        names the first difference.
    """
    config = RunOptions(
        train_batch_size=batch_size * num_clones, num_clones=num_clones, random_seed=seed
    )
    uninterrupted = InputGraph(source, Mode.TRAIN, config)
    with uninterrupted.session() as session:
        try:
            uninterrupted.position.check(session)
        except DataError as error:
            raise AssertionError(str(error)) from error
        positions, batches = [], []
        for number in range(steps):
            positions.append(session.run(uninterrupted.position.tensors))
            batches.append(_read_batch(uninterrupted, session, number))
    resumed = InputGraph(source, Mode.TRAIN, config)
    for step, position in enumerate(positions):
        with resumed.session() as session:
            resumed.position.put(session, position)
            for number in range(step, steps):
                batch = _read_batch(resumed, session, number)
                _compare(batch, batches[number], f"resumed after step {step}, batch {number + 1}")


class InputGraph:
    """The batches of an input in a new graph, as a run builds them.

    Args:
      mode: training or evaluation.

    Attributes:
      batches: features and labels, for each clone.
      position: the `InputPosition` in the training data; None for evaluation.
    """

    def __init__(self, source: Any, mode: Mode, config: RunOptions) -> None:
        self._graph = tf.Graph()
        self.context = InputContext(
            batch_size=config.clone_batch_size,
            seed=config.random_seed,
            train_batch_size=config.train_batch_size,
        )
        deployment = DeploymentConfig(num_clones=config.num_clones, clone_on_cpu=True)
        with self._graph.as_default():
            tf.set_random_seed(config.random_seed)
            if mode == Mode.TRAIN:
                self.batches = make_batches(source, mode, self.context, deployment)
                self.position: Any = make_input_position(source, config)
            else:
                self.batches = [make_eval_batch(source, self.context, -1)[:2]]
                self.position = None
            self._initial = [
                tf.global_variables_initializer(),
                tf.local_variables_initializer(),
                tf.tables_initializer(),
            ]

    def session(self) -> Session:
        """Returns a session with the input at its beginning."""
        session = tf.Session(graph=self._graph)
        session.run(self._initial)
        with self._graph.as_default():
            if tf.get_collection(tf.GraphKeys.QUEUE_RUNNERS):
                tf.train.start_queue_runners(session, tf.train.Coordinator())
        return session


def _read_batch(graph: InputGraph, session: Session, number: int) -> _Batch:
    parts = tf.nest.flatten(graph.batches, expand_composites=True)
    try:
        values: _Batch = session.run([part for part in parts if tf.is_tensor(part)])
    except tf.errors.OutOfRangeError as error:
        raise AssertionError(
            f"the training data ends after {number} batches; it must repeat without end"
        ) from error
    return values


def _compare(batch: _Batch, expected: _Batch, where: str) -> None:
    for index, (now, before) in enumerate(zip(batch, expected, strict=True)):
        now, before = np.asarray(now), np.asarray(before)
        name = f"{where}: tensor {index} of {len(expected)} ({before.dtype} {list(before.shape)})"
        if now.shape != before.shape:
            raise AssertionError(f"{name} has the shape {list(now.shape)}")
        different = _count_different(now, before)
        if different:
            raise AssertionError(
                f"{name} differs in {different} of {before.size} values from an uninterrupted run; "
                "does something outside of tf.data draw random numbers, read files or count?"
            )


def _count_different(now: Any, before: Any) -> int:
    """Returns the number of values with different bytes; NaNs with the same bytes are equal."""
    if now.dtype == object:
        return int(np.sum(now != before))
    if not now.size:
        return 0
    bits = [np.ascontiguousarray(array).reshape(-1).view(np.uint8) for array in (now, before)]
    return int(np.sum((bits[0] != bits[1]).reshape(now.size, -1).any(axis=1)))
