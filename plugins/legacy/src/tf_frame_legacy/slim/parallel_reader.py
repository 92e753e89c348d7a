"""slim's `parallel_reader`: several readers that fill one queue with records of many files.

New inputs use tf.data.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame_legacy.slim.prefetch_queue import add_fullness_summary


class ParallelReader(tf.ReaderBase):
    """Several readers that fill one queue with records.

    The readers read different files at a time, so the records of the files mix.

    Args:
      reader_class: class of the readers, such as `tf.compat.v1.TFRecordReader`.
      common_queue: the queue of pairs `(key, value)` of strings.
      num_readers: number of readers.
      reader_kwargs: arguments of `reader_class`.

    Raises:
      TypeError: the elements of the queue are not pairs of strings.
    """

    def __init__(
        self,
        reader_class: Any,
        common_queue: Any,
        num_readers: int = 4,
        reader_kwargs: dict[str, Any] | None = None,
    ) -> None:
        dtypes = common_queue.dtypes
        if len(dtypes) != 2 or not all(dtype.is_compatible_with(tf.string) for dtype in dtypes):
            raise TypeError("common_queue.dtypes must be [tf.string, tf.string]")
        # No call of ReaderBase.__init__, which needs the resource of a single reader.
        self._readers = [reader_class(**(reader_kwargs or {})) for _ in range(num_readers)]
        self._common_queue = common_queue

    @property
    def num_readers(self) -> int:
        """The number of readers."""
        return len(self._readers)

    @property
    def common_queue(self) -> Any:
        """The queue that the readers fill."""
        return self._common_queue

    def read(self, queue: Any, name: str | None = None) -> Any:
        """Returns `(key, value)` of the next record; adds the runner that fills the queue.

        Args:
          queue: queue of file names.
          name: name of the dequeue op.
        """
        self._fill_from(queue)
        return self._common_queue.dequeue(name=name)

    def read_up_to(self, queue: Any, num_records: Any, name: str | None = None) -> Any:
        """Returns `(keys, values)` of up to `num_records` records, each `[records]` string.

        The shapes of the elements of the common queue must be known.

        Args:
          queue: queue of file names.
          num_records: maximum number of records.
          name: name of the dequeue op.
        """
        self._fill_from(queue)
        return self._common_queue.dequeue_up_to(num_records, name)

    def _fill_from(self, queue: Any) -> None:
        enqueues = [self._common_queue.enqueue(reader.read(queue)) for reader in self._readers]
        tf.train.add_queue_runner(tf.train.QueueRunner(self._common_queue, enqueues))

    def num_records_produced(self, name: str | None = None) -> Any:
        """Returns the number of records read so far, a scalar int64 tensor."""
        return tf.add_n([reader.num_records_produced() for reader in self._readers], name=name)

    def num_work_units_completed(self, name: str | None = None) -> Any:
        """Returns the number of files read completely, a scalar int64 tensor."""
        return tf.add_n([reader.num_work_units_completed() for reader in self._readers], name=name)


def parallel_read(
    data_sources: str | Sequence[str],
    reader_class: Any,
    num_epochs: int | None = None,
    num_readers: int = 4,
    reader_kwargs: dict[str, Any] | None = None,
    shuffle: bool = True,
    dtypes: Sequence[Any] | None = None,
    capacity: int = 256,
    min_after_dequeue: int = 128,
    seed: int | None = None,
    scope: str | None = None,
) -> Any:
    """Returns `(key, value)` of one record from many files.

    Adds the summary `SCOPE/fraction_of_CAPACITY_full` (tf_slim, data/parallel_reader.py).

    Args:
      data_sources: a path or a list of paths; `*`, `?` and `[` are wildcards.
      reader_class: class of the readers.
      num_epochs: passes over the files, counted in a local variable; None: no end.
      num_readers: number of readers.
      reader_kwargs: arguments of `reader_class`.
      shuffle: whether to shuffle files and records.
      dtypes: types of key and value; None: strings.
      capacity, min_after_dequeue: maximum and, if `shuffle`, after a record is taken, minimum
        number of records in the queue.
      seed: seed of the shuffling.
      scope: name scope; None: `parallel_read`.

    Raises:
      ValueError: no file matches.
    """
    data_files = get_data_files(data_sources)
    dtypes = dtypes or [tf.string, tf.string]
    with tf.name_scope(scope, "parallel_read"):
        filename_queue = tf.train.string_input_producer(
            data_files, num_epochs=num_epochs, shuffle=shuffle, seed=seed, name="filenames"
        )
        if shuffle:
            common_queue = tf.RandomShuffleQueue(
                capacity, min_after_dequeue, dtypes, seed=seed, name="common_queue"
            )
        else:
            common_queue = tf.FIFOQueue(capacity, dtypes, name="common_queue")
        add_fullness_summary(common_queue, capacity)
        reader = ParallelReader(
            reader_class, common_queue, num_readers=num_readers, reader_kwargs=reader_kwargs
        )
        return reader.read(filename_queue)


def single_pass_read(
    data_sources: str | Sequence[str],
    reader_class: Any,
    reader_kwargs: dict[str, Any] | None = None,
    scope: str | None = None,
) -> Any:
    """Returns `(key, value)` of one record, for a single pass in the order of the files.

    See `parallel_read` for the arguments; `scope` is `single_pass_read` by default.
    """
    data_files = get_data_files(data_sources)
    with tf.name_scope(scope, "single_pass_read"):
        filename_queue = tf.train.string_input_producer(
            data_files, num_epochs=1, shuffle=False, capacity=1, name="filenames"
        )
        return reader_class(**(reader_kwargs or {})).read(filename_queue)


def get_data_files(data_sources: str | Sequence[str]) -> list[str]:
    """Returns the paths that match; a path without wildcards is returned unchecked.

    Args:
      data_sources: a path or a list of paths; `*`, `?` and `[` are wildcards.

    Raises:
      ValueError: no file matches.
    """
    if not isinstance(data_sources, str):
        data_files = [path for source in data_sources for path in get_data_files(source)]
    elif any(wildcard in data_sources for wildcard in "*?["):
        # Sorted, because the order of the file system is not repeatable.
        data_files = sorted(tf.gfile.Glob(data_sources))
    else:
        data_files = [data_sources]
    if not data_files:
        raise ValueError(f"No data files found in {data_sources}")
    return data_files
