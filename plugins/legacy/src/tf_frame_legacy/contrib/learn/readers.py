"""Batches of records from files by queues: the readers of tf.contrib.learn.

features = read_batch_features(
    "data/*.tfrecord", 32, {"x": tf.FixedLenFeature([3], tf.float32)}, tf.TFRecordReader
)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import tensorflow.compat.v1 as tf

_KEY = "__key__"


def read_keyed_batch_examples(
    file_pattern: Any,
    batch_size: Any,
    reader: Callable[[], Any],
    randomize_input: bool = True,
    num_epochs: int | None = None,
    queue_capacity: int = 10000,
    num_threads: int = 1,
    read_batch_size: Any = 1,
    parse_fn: Callable[[Any], Any] | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> tuple[Any, Any]:
    """Returns the keys of a batch of records, and the records.

    Args:
      file_pattern: a pattern of files, or a list of them.
      batch_size: records of a batch, less than `queue_capacity`; with `num_epochs`, the last batch
        may have fewer.
      reader: a class of readers, such as `tf.TFRecordReader`.
      randomize_input: whether files and records are shuffled.
      num_epochs: passes over the files; None: no end. Counted in a local variable.
      queue_capacity: records that wait.
      num_threads: threads that read.
      read_batch_size: records that a thread reads at once.
      parse_fn: function of the records; None: they are returned as they are.
      name: scope of the operations; None: "read_batch_examples".
      seed: seed of the shuffling.

    Returns:
      Keys, a string tensor, and what `parse_fn` returns. They need `tf.train.start_queue_runners`.

    Raises:
      ValueError: no file matches, or a number is out of range.
    """
    files = _files(file_pattern, randomize_input)
    _check_positive(
        queue_capacity=queue_capacity,
        batch_size=batch_size,
        read_batch_size=read_batch_size,
        num_threads=num_threads,
        num_epochs=1 if num_epochs is None else num_epochs,
    )
    if not tf.is_tensor(batch_size) and batch_size >= queue_capacity:
        raise ValueError(f"Invalid batch_size {batch_size}, with queue_capacity {queue_capacity}.")
    with tf.name_scope(name, "read_batch_examples") as scope:
        with tf.name_scope("file_name_queue") as queue_scope:
            queue = tf.train.string_input_producer(
                files, num_epochs, randomize_input, seed, name=queue_scope
            )
        many = tf.is_tensor(read_batch_size) or read_batch_size > 1
        with tf.name_scope("read"):
            examples = [
                _read(reader(), queue, read_batch_size if many else None, parse_fn)
                for _ in range(num_threads)
            ]
        options = {
            "capacity": queue_capacity,
            "enqueue_many": many,
            "allow_smaller_final_batch": num_epochs is not None,
            "name": scope,
        }
        if randomize_input:
            options |= {"min_after_dequeue": _rest(queue_capacity, batch_size), "seed": seed}
            batch = tf.train.shuffle_batch_join(examples, batch_size, **options)
        else:
            batch = tf.train.batch_join(examples, batch_size, **options)
    return (batch.pop(_KEY), batch) if isinstance(batch, dict) else tuple(batch)


def read_batch_examples(
    file_pattern: Any,
    batch_size: Any,
    reader: Callable[[], Any],
    randomize_input: bool = True,
    num_epochs: int | None = None,
    queue_capacity: int = 10000,
    num_threads: int = 1,
    read_batch_size: Any = 1,
    parse_fn: Callable[[Any], Any] | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> Any:
    """Returns a batch of records; see `read_keyed_batch_examples`."""
    return read_keyed_batch_examples(
        file_pattern,
        batch_size,
        reader,
        randomize_input,
        num_epochs,
        queue_capacity,
        num_threads,
        read_batch_size,
        parse_fn,
        name,
        seed,
    )[1]


def read_keyed_batch_features(
    file_pattern: Any,
    batch_size: Any,
    features: Mapping[str, Any],
    reader: Callable[[], Any],
    randomize_input: bool = True,
    num_epochs: int | None = None,
    queue_capacity: int = 10000,
    reader_num_threads: int = 1,
    feature_queue_capacity: int = 100,
    num_enqueue_threads: int = 2,
    parse_fn: Callable[[Any], Any] | None = None,
    name: str | None = None,
    read_batch_size: Any = None,
) -> tuple[Any, dict[str, Any]]:
    """Returns the keys of a batch of `tf.train.Example` records, and their features.

    Args:
      file_pattern, batch_size, reader, randomize_input, num_epochs, queue_capacity, parse_fn: see
        `read_keyed_batch_examples`.
      features: name -> `tf.FixedLenFeature` or `tf.VarLenFeature`.
      reader_num_threads: threads that read.
      feature_queue_capacity, num_enqueue_threads: see `queue_parsed_features`.
      name: scope of the operations; None: "read_batch_features".
      read_batch_size: records that a thread reads at once; None: `batch_size`.
    """
    with tf.name_scope(name, "read_batch_features") as scope:
        keys, examples = read_keyed_batch_examples(
            file_pattern,
            batch_size,
            reader,
            randomize_input,
            num_epochs,
            queue_capacity,
            reader_num_threads,
            batch_size if read_batch_size is None else read_batch_size,
            parse_fn,
            scope,
        )
        parsed = tf.parse_example(examples, features)
        return queue_parsed_features(
            parsed, keys, feature_queue_capacity, num_enqueue_threads, scope
        )


def read_batch_features(
    file_pattern: Any,
    batch_size: Any,
    features: Mapping[str, Any],
    reader: Callable[[], Any],
    randomize_input: bool = True,
    num_epochs: int | None = None,
    queue_capacity: int = 10000,
    feature_queue_capacity: int = 100,
    reader_num_threads: int = 1,
    num_enqueue_threads: int = 2,
    parse_fn: Callable[[Any], Any] | None = None,
    name: str | None = None,
    read_batch_size: Any = None,
) -> dict[str, Any]:
    """Returns the features of a batch of records; see `read_keyed_batch_features`."""
    return read_keyed_batch_features(
        file_pattern,
        batch_size,
        features,
        reader,
        randomize_input,
        num_epochs,
        queue_capacity,
        reader_num_threads,
        feature_queue_capacity,
        num_enqueue_threads,
        parse_fn,
        name,
        read_batch_size,
    )[1]


def read_batch_record_features(
    file_pattern: Any,
    batch_size: Any,
    features: Mapping[str, Any],
    randomize_input: bool = True,
    num_epochs: int | None = None,
    queue_capacity: int = 10000,
    reader_num_threads: int = 1,
    name: str = "dequeue_record_examples",
) -> dict[str, Any]:
    """Returns the features of a batch of TFRecord files; see `read_keyed_batch_features`."""
    return read_batch_features(
        file_pattern,
        batch_size,
        features,
        tf.TFRecordReader,
        randomize_input,
        num_epochs,
        queue_capacity,
        reader_num_threads=reader_num_threads,
        name=name,
    )


def queue_parsed_features(
    parsed_features: Mapping[str, Any],
    keys: Any = None,
    feature_queue_capacity: int = 100,
    num_enqueue_threads: int = 2,
    name: str | None = None,
) -> tuple[Any, dict[str, Any]]:
    """Puts features into a queue, so that other threads parse them.

    Args:
      parsed_features: name -> tensor or sparse tensor.
      keys: a tensor that goes with them; None: none.
      feature_queue_capacity: batches that wait.
      num_enqueue_threads: threads that parse.
      name: scope of the operations; None: "queue_parsed_features".

    Returns:
      The keys and the features of the next batch.
    """
    structure = {"keys": () if keys is None else keys, "features": dict(parsed_features)}
    with tf.name_scope(name, "queue_parsed_features"):
        tensors = tf.nest.flatten(structure, expand_composites=True)
        queue = tf.FIFOQueue(feature_queue_capacity, [tensor.dtype for tensor in tensors])
        share = tf.cast(queue.size(), tf.float32) / feature_queue_capacity
        tag = f"queue/parsed_features/{queue.name}/fraction_of_{feature_queue_capacity}_full"
        tf.summary.scalar(tag, share)
        ends = (tf.errors.OutOfRangeError, tf.errors.CancelledError)
        runner = tf.train.QueueRunner(
            queue, [queue.enqueue(tensors)] * num_enqueue_threads, queue_closed_exception_types=ends
        )
        tf.train.add_queue_runner(runner)
        taken = queue.dequeue()
        taken = taken if isinstance(taken, list) else [taken]
        for tensor, before in zip(taken, tensors, strict=True):
            tensor.set_shape(before.shape)
        batch = tf.nest.pack_sequence_as(structure, taken, expand_composites=True)
        return None if keys is None else batch["keys"], batch["features"]


def _files(file_pattern: Any, randomize_input: bool) -> list[str]:
    patterns = file_pattern if isinstance(file_pattern, list) else [file_pattern]
    files = [file for pattern in patterns for file in tf.gfile.Glob(pattern)]
    if not files:
        raise ValueError(f"No files match {file_pattern}.")
    return files if randomize_input else sorted(files)


def _check_positive(**numbers: Any) -> None:
    for name, number in numbers.items():
        if not tf.is_tensor(number) and (not number or number <= 0):
            raise ValueError(f"Invalid {name} {number}.")


def _read(reader: Any, queue: Any, count: Any, parse_fn: Callable[[Any], Any] | None) -> Any:
    """Returns the key and value of a record, or of up to `count` records."""
    keys, values = reader.read(queue) if count is None else reader.read_up_to(queue, count)
    parsed = parse_fn(values) if parse_fn else values
    return {**parsed, _KEY: keys} if isinstance(parsed, dict) else (keys, parsed)


def _rest(queue_capacity: int, batch_size: Any) -> int:
    """Returns the records that stay in the queue, from which a batch is drawn."""
    if tf.is_tensor(batch_size):
        return int(queue_capacity * 0.4)
    return max(queue_capacity - 3 * int(batch_size), int(batch_size))
