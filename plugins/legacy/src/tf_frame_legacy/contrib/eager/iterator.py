"""`Iterator`: an iterator over a data set, made as an object."""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf


class Iterator:
    """Yields the elements of a data set, with eager execution.

    Args:
      dataset: a `tf.data.Dataset`.

    Raises:
      RuntimeError: eager execution is not enabled.
      TypeError: `dataset` is no data set.
    """

    def __init__(self, dataset: Any) -> None:
        if not tf.executing_eagerly():
            raise RuntimeError(
                "tf.contrib.eager.Iterator needs eager execution; in graphs use "
                "dataset.make_one_shot_iterator()"
            )
        if not isinstance(dataset, tf.compat.v2.data.Dataset):
            raise TypeError(f"tf.contrib.eager.Iterator takes a tf.data.Dataset, not {dataset!r}")
        self._iterator = iter(dataset)

    def __iter__(self) -> Iterator:
        return self

    def __next__(self) -> Any:
        return next(self._iterator)

    next = __next__

    def get_next(self, name: str | None = None) -> Any:
        """Returns the next element.

        Raises:
          tf.errors.OutOfRangeError: there is none.
        """
        del name
        return self._iterator.get_next()

    @property
    def output_classes(self) -> Any:
        """The classes of the parts of an element."""
        return tf.data.get_output_classes(self._iterator)

    @property
    def output_shapes(self) -> Any:
        """The shapes of the parts of an element."""
        return tf.data.get_output_shapes(self._iterator)

    @property
    def output_types(self) -> Any:
        """The types of the parts of an element."""
        return tf.data.get_output_types(self._iterator)
