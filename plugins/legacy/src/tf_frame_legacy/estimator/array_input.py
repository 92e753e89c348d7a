"""The input plugin behind `numpy_input_fn` and `pandas_input_fn`: arrays in memory.

It is a plugin: each clone gets its own batches, and a resumed run continues at the saved position.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

from tf_frame import Input, InputContext, Mode
from tf_frame.graph.inputs.streams import dataset_batches
from tf_frame.plugin.contracts import NoParams


class ArrayInput(Input):
    """An input function that is also an input plugin.

    A call returns tensors, for programs that process them further.

    Args:
      arrays: returns features and labels, each an array `[rows, ...]`, name -> array,
        or (labels) None; called whenever a graph is built.
      batch_size: rows per batch.
      num_epochs: number of passes over the rows; None: no end.
      shuffle: whether to shuffle each epoch separately.
    """

    counts_examples = False  # A step takes `batch_size` rows, whatever `--train_batch_size` is.
    restarts = True  # Each call of `Estimator.train` reads the rows from the first one on.

    def __init__(
        self,
        arrays: Callable[[], tuple[Any, Any]],
        batch_size: int,
        num_epochs: int | None,
        shuffle: bool,
    ) -> None:
        super().__init__(params=NoParams())
        self._arrays = arrays
        self._batch_size = batch_size
        self._num_epochs = num_epochs
        self._shuffle = shuffle

    def __call__(self) -> Any:
        """Returns the tensors of the next batch; the iterator is initialised with the tables."""
        features, labels = dataset_batches(self._dataset(), 1)[0]
        return features if labels is None else (features, labels)

    def dataset(self, mode: Mode, context: InputContext) -> Any:
        """Returns the batches; every worker reads all rows, as with tf.estimator."""
        del mode, context
        return self._dataset()

    def _dataset(self) -> Any:
        """Returns a data set of pairs of features and labels."""
        arrays = self._arrays()
        tensors = tf.nest.map_structure(_tensor, arrays)
        num_rows = len(tf.nest.flatten(arrays)[0])

        def batch(rows: Any) -> Any:
            return tf.nest.map_structure(lambda t: t if t is None else tf.gather(t, rows), tensors)

        # If the rows repeat without end, all batches are full and their size is static.
        rows = self._rows(num_rows).batch(self._batch_size, drop_remainder=self._num_epochs is None)
        return rows.map(batch)

    def _rows(self, num_rows: int) -> Any:
        """Returns a data set of row indices, one epoch after the other."""
        count = np.iinfo(np.int64).max if self._num_epochs is None else self._num_epochs
        if not self._shuffle:
            return tf.data.Dataset.range(num_rows).repeat(self._num_epochs)
        seed = _seed()

        def shuffled(epoch: Any) -> Any:
            draws = tf.random.stateless_uniform(
                [num_rows], tf.stack([seed, epoch]), dtype=tf.float64
            )
            return tf.data.Dataset.from_tensor_slices(tf.argsort(draws))

        return tf.data.Dataset.range(count).flat_map(shuffled)


def _tensor(array: Any) -> Any:
    """Returns a tensor that reads the array whenever an iterator is initialised."""
    if array is None:
        return None
    dtype = tf.as_dtype(array.dtype)
    value = array.astype(object) if dtype == tf.string else array
    tensor = tf.numpy_function(lambda: value, [], dtype)
    tensor.set_shape(array.shape)
    return tensor


def _seed() -> Any:
    """Returns a seed derived from the graph's seed; a random one if the graph has none."""
    graph_seed, op_seed = tf.get_seed(None)
    if graph_seed is None:
        return tf.constant(int(np.random.randint(2**31)), tf.int64)
    return tf.constant((int(graph_seed) * 0x9E3779B1 + int(op_seed)) % 2**62, tf.int64)
