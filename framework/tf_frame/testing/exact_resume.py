"""Tests that an input can be resumed exactly, for the tests of plugins.

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
from tf_frame.graph.inputs.batches import make_batches
from tf_frame.graph.inputs.position import InputPosition, make_input_position
from tf_frame.plugin import InputContext, Mode

_Batch = Sequence[Any]


def check_exact_resume(
    source: Any, *, batch_size: int, steps: int, seed: int = 1, num_clones: int = 1
) -> None:
    """Checks that training data goes on exactly from the position of every step.

    The pipeline is built as a training run builds it, and its position is saved
    after every step, the first one before any. Then it is built again; from each
    position the rest of the batches must come, byte for byte.

    Args:
      source: the input, constructed.
      batch_size: examples in the batch of one clone.
      steps: batches that each clone takes; more than one pass over small data
        shows whether the passes are shuffled alike.
      seed: what `context.seed` will be.
      num_clones: clones that take batches in turns.

    Raises:
      AssertionError: the position cannot be saved, or other batches come; it
        says which one is the first.
    """
    config = RunOptions(
        train_batch_size=batch_size * num_clones, num_clones=num_clones, random_seed=seed
    )
    whole = _Pipeline(source, config)
    with whole.session() as session:
        whole.check(session)
        positions, batches = whole.positions_and_batches(session, steps)
    again = _Pipeline(source, config)
    for step, position in enumerate(positions):
        with again.session() as session:
            again.position.put(session, position)
            for number in range(step, steps):
                came = again.batch(session, number)
                _compare(came, batches[number], f"resumed after step {step}, batch {number + 1}")


class _Pipeline:
    """The input in a graph of its own."""

    def __init__(self, source: Any, config: RunOptions) -> None:
        self._graph = tf.Graph()
        context = InputContext(batch_size=config.clone_batch_size, seed=config.random_seed)
        deployment = DeploymentConfig(num_clones=config.num_clones, clone_on_cpu=True)
        with self._graph.as_default():
            tf.set_random_seed(config.random_seed)
            batches = make_batches(source, Mode.TRAIN, context, deployment)
            parts = tf.nest.flatten(batches, expand_composites=True)
            self._parts = [part for part in parts if tf.is_tensor(part)]
            position = make_input_position(source, config)
            assert position is not None, "there is one worker"
            self.position: InputPosition = position
            self._initial = [
                tf.global_variables_initializer(),
                tf.local_variables_initializer(),
                tf.tables_initializer(),
            ]

    def session(self) -> Any:
        """A session that stands at the beginning."""
        session = tf.Session(graph=self._graph)
        session.run(self._initial)
        return session

    def check(self, session: Any) -> None:
        try:
            self.position.check(session)
        except DataError as error:
            raise AssertionError(str(error)) from error

    def positions_and_batches(self, session: Any, steps: int) -> tuple[list[Any], list[_Batch]]:
        """The position before each step, and its batch."""
        positions, batches = [], []
        for number in range(steps):
            positions.append(session.run(self.position.tensors))
            batches.append(self.batch(session, number))
        return positions, batches

    def batch(self, session: Any, number: int) -> _Batch:
        try:
            values: _Batch = session.run(self._parts)
        except tf.errors.OutOfRangeError as error:
            raise AssertionError(
                f"the training data ends after {number} batches; it must repeat for ever"
            ) from error
        return values


def _compare(came: _Batch, expected: _Batch, where: str) -> None:
    for index, (now, before) in enumerate(zip(came, expected, strict=True)):
        now, before = np.asarray(now), np.asarray(before)
        what = f"{where}: tensor {index} of {len(expected)} ({before.dtype} {list(before.shape)})"
        if now.shape != before.shape:
            raise AssertionError(f"{what} has the shape {list(now.shape)}")
        different = _different(now, before)
        if different:
            raise AssertionError(
                f"{what} differs in {different} of {before.size} values from that of a run that "
                "was not stopped; is something drawn, read or counted outside of tf.data?"
            )


def _different(now: Any, before: Any) -> int:
    """Values that are not the same byte for byte; one NaN is like another of the same bytes."""
    if now.dtype == object:
        return int(np.sum(now != before))
    if not now.size:
        return 0
    bits = [np.ascontiguousarray(each).reshape(-1).view(np.uint8) for each in (now, before)]
    return int(np.sum((bits[0] != bits[1]).reshape(now.size, -1).any(axis=1)))
