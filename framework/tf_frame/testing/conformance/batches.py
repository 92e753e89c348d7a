"""`Pipeline` puts the data of an input into a graph; `Batches` describes the batches read."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

from tf_frame.config.run_options import RunOptions
from tf_frame.errors import DataError
from tf_frame.graph.inputs.replay import describe_exactness, python_functions
from tf_frame.plugin import Mode
from tf_frame.testing.exact_resume import InputGraph
from tf_frame.text import listed


@dataclasses.dataclass
class Batches:
    """Batches from a pipeline.

    Attributes:
      features, labels: symbolic batch, with the structure that the model gets.
      first: the values of the tensors of the first batch.
      sizes: number of examples in each tensor, batch by batch.
      ended: whether the data ended.
      timed_out: whether reading took too long and was stopped.
    """

    features: Any
    labels: Any
    first: Sequence[Any] = ()
    sizes: list[list[int]] = dataclasses.field(default_factory=list)
    ended: bool = False
    timed_out: bool = False

    @property
    def examples(self) -> int:
        """Number of examples in the batches."""
        return sum(max(sizes, default=0) for sizes in self.sizes)

    def names(self, part: str) -> Sequence[str]:
        """The keys of the features or labels; none unless they are a dict."""
        value = getattr(self, part)
        # With several data sets, the names of all.
        parts = value if isinstance(value, (list, tuple)) else [value]
        return [name for part in parts if isinstance(part, Mapping) for name in part]

    def types(self) -> dict[str, str]:
        """Path of each tensor in the batch -> its type and rank."""
        return {
            path: f"{t.dtype.name} of rank {t.shape.rank}" for path, t in self._by_path().items()
        }

    def wrong_shape(self) -> str:
        """Describes a tensor with a value of another shape than in the graph; empty without one."""
        for (path, tensor), value in zip(self._by_path().items(), self.first, strict=True):
            shape = _shape(value)
            if tensor.shape.rank is None:
                return f"{path} has a shape of unknown rank"
            if not tensor.shape.is_compatible_with(shape):
                return f"{path} is declared as {tensor.shape} and has the shape {list(shape)}"
        return ""

    def _by_path(self) -> dict[str, Any]:
        pairs = {"features": self.features, "labels": self.labels}
        return {
            f"{part}{''.join(f'[{key!r}]' for key in keys)}": tensor
            for part, value in pairs.items()
            for keys, tensor in _with_paths(value)
        }


class Pipeline(InputGraph):
    """The batches of an input in a new graph, to be read.

    Args:
      mode: training or evaluation.
      batch_size: examples per batch.
    """

    def __init__(self, source: Any, mode: Mode, batch_size: int) -> None:
        config = RunOptions(train_batch_size=batch_size, random_seed=1)
        super().__init__(source, mode, config)
        self._dataset = lambda: source.dataset(mode, self.context)

    def read(self, most: int, most_secs: float) -> Batches:
        """Reads up to `most` batches, but no further one after `most_secs` seconds."""
        batches = Batches(*self.batches[0])
        tensors = [tensor for part in self.batches[0] for _, tensor in _with_paths(part)]
        with self.session() as session:
            until = time.monotonic() + most_secs
            while len(batches.sizes) < most and not batches.timed_out:
                try:
                    values = session.run(tensors)
                except tf.errors.OutOfRangeError:
                    batches.ended = True
                    break
                batches.first = batches.first or values
                batches.sizes.append([count_examples(value) for value in values])
                batches.timed_out = time.monotonic() > until
        return batches

    def cardinalities(self) -> list[int]:
        """Returns the number of batches of each data set.

        The number of an endless or unknown data set is negative:
        `tf.data.experimental.INFINITE_CARDINALITY` or `UNKNOWN_CARDINALITY`.
        """
        with tf.Graph().as_default(), tf.Session() as session:
            returned = self._dataset()
            parts = returned if isinstance(returned, (list, tuple)) else [returned]
            counts = [tf.data.experimental.cardinality(p) for p in parts if hasattr(p, "take")]
            return [int(number) for number in session.run(counts)]

    def position_problem(self) -> str:
        """Describes why the position cannot be saved, with advice; empty if it can be saved."""
        with self.session() as session:
            try:
                self.position.check(session)
            except DataError as error:
                return ". ".join(str(error).splitlines())
        return ""

    def reading_again(self) -> str:
        """Says how a run resumes an input with Python functions; empty without such functions."""
        initializers = self.position.initializers
        functions = python_functions(initializers) if self.position.is_countable else []
        if not functions:
            return ""
        return (
            f"no checkpoint holds its Python functions, {listed(functions)}: a resumed run reads "
            f"the input again up to its step, {describe_exactness(initializers)}"
        )


def count_examples(value: Any) -> int:
    """Returns the number of examples in the value of a batched tensor."""
    if isinstance(value, tf.SparseTensorValue):
        return int(value.dense_shape[0])
    if isinstance(value, tf.ragged.RaggedTensorValue):
        return int(value.shape[0])
    return int(np.shape(value)[0]) if np.ndim(value) else 1


def _shape(value: Any) -> Sequence[int | None]:
    if isinstance(value, tf.SparseTensorValue):
        return [int(size) for size in value.dense_shape]
    if isinstance(value, tf.ragged.RaggedTensorValue):
        return list(value.shape)
    return list(np.shape(value))


def _with_paths(value: Any, keys: tuple[Any, ...] = ()) -> list[tuple[tuple[Any, ...], Any]]:
    """Returns pairs of keys and tensor of a structure."""
    if isinstance(value, Mapping):
        return [pair for key, part in value.items() for pair in _with_paths(part, (*keys, key))]
    if isinstance(value, (list, tuple)) and not isinstance(value, tf.SparseTensor):
        return [pair for n, part in enumerate(value) for pair in _with_paths(part, (*keys, n))]
    return [(keys, value)] if hasattr(value, "dtype") else []
