"""Streams of batches from a data set, or from a function that reads a queue."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import tensorflow.compat.v1 as tf

from tf_frame.errors import DataError
from tf_frame.text import short_repr

Batch = tuple[Any, Any]

# Collections with, for every stream, the initializer of its iterator, or why it has no position.
_INITIALIZERS = "tf_frame/input_iterator_initializers"
_WITHOUT_POSITION = "tf_frame/inputs_without_position"


class Stream(Protocol):
    """Batches of `(features, labels)`, one after the other."""

    @property
    def endless(self) -> Any:
        """Whether the stream is known never to end, a scalar bool tensor."""

    def batches(self, count: int) -> list[Batch]:
        """Takes `count` batches per step, one after the other."""


class DatasetStream:
    """Batches of a data set.

    The iterator is initialised with the tables, and so by a `Scaffold`.

    Args:
      dataset: yields `(features, labels)`.
    """

    def __init__(self, dataset: Any) -> None:
        self._dataset = dataset

    @property
    def endless(self) -> Any:
        cardinality = tf.data.experimental.cardinality(self._dataset)
        return tf.equal(cardinality, tf.data.experimental.INFINITE_CARDINALITY)

    def batches(self, count: int) -> list[Batch]:
        iterator = tf.data.make_initializable_iterator(self._dataset)
        tf.add_to_collection(tf.GraphKeys.TABLE_INITIALIZERS, iterator.initializer)
        tf.add_to_collection(_INITIALIZERS, iterator.initializer)
        return _in_turns(iterator.get_next, count)


class FunctionStream:
    """Batches that a function takes from a queue.

    Args:
      function: returns `(features, labels)`; called once for each batch of a step.
      origin: name of its origin, for messages.
      take: number of batches at most; -1 for all.
    """

    def __init__(self, function: Callable[[], Any], *, origin: str, take: int) -> None:
        self._function = function
        self._origin = origin
        self._take = take

    @property
    def endless(self) -> Any:
        return tf.constant(False)

    def batches(self, count: int) -> list[Batch]:
        tf.add_to_collection(
            _WITHOUT_POSITION,
            f"{self._origin} returned a function, and what its queues hold cannot be saved",
        )
        batches = _in_turns(self._batch, count)
        if count > 1 and _ids(batches[0]) == _ids(batches[1]):
            raise DataError(
                f"the function that {self._origin} returned gives the same tensors to every "
                "clone; it must take a new batch each time it is called, with dequeue() for example"
            )
        return batches

    def _batch(self) -> Batch:
        batch = self._function()
        if not (isinstance(batch, (tuple, list)) and len(batch) == 2 and _tensors(batch)):
            raise DataError(
                f"the function that {self._origin} returned must return tensors as "
                f"(features, labels), it returned {short_repr(batch)}"
            )
        return self._limited((batch[0], batch[1]))

    def _limited(self, batch: Batch) -> Batch:
        """Ends the stream after `take` batches, as `Dataset.take` does."""
        if self._take < 0:
            return batch
        counter = tf.train.limit_epochs(tf.constant(True), self._take)
        with tf.control_dependencies([counter]):
            limited: Batch = tf.nest.map_structure(
                lambda part: tf.identity(part) if tf.is_tensor(part) else part, batch
            )
        return limited


def iterator_initializers() -> list[Any]:
    """The initializer of each data set's iterator in the default graph.

    The second input of the op is the handle of the iterator.
    """
    return list(tf.get_collection(_INITIALIZERS))


def streams_without_position() -> list[str]:
    """Reasons why positions of streams in the default graph cannot be saved, one per stream."""
    return list(tf.get_collection(_WITHOUT_POSITION))


def _in_turns(take: Callable[[], Any], count: int) -> list[Any]:
    """Calls `take` `count` times; each batch is taken after the one before."""
    batches: list[Any] = []
    for _ in range(count):
        with tf.control_dependencies(_tensors(batches[-1])[:1] if batches else []):
            batches.append(take())
    return batches


def _tensors(batch: Any) -> Sequence[Any]:
    """The tensors of a batch, with the components of sparse and ragged ones."""
    parts = tf.nest.flatten(batch, expand_composites=True)
    return [part for part in parts if tf.is_tensor(part)]


def _ids(batch: Any) -> set[int]:
    return set(map(id, _tensors(batch)))
