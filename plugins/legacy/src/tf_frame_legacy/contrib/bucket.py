"""Batches of examples of similar lengths from queues: the buckets of tf.contrib.training.

lengths, (words,) = bucket_by_sequence_length(
    length, [words], batch_size=32, bucket_boundaries=[10, 20], dynamic_pad=True
)
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import tensorflow.compat.v1 as tf
from tensorflow.python.framework import smart_cond
from tensorflow.python.training import input as input_queues


def bucket(
    tensors: Any,
    which_bucket: Any,
    batch_size: Any,
    num_buckets: int,
    num_threads: int = 1,
    capacity: int = 32,
    bucket_capacities: Sequence[int] | None = None,
    shapes: Any = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    keep_input: Any = True,
    shared_name: str | None = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """Puts examples into buckets and returns batches of one bucket each.

    Args:
      tensors: list or dictionary of the tensors of an example.
      which_bucket: bucket of the example, an int32 scalar.
      batch_size: examples of a batch; a list: of each bucket's.
      num_buckets: number of buckets.
      num_threads: threads that read examples.
      capacity: batches that wait, and examples in each bucket.
      bucket_capacities: examples in each bucket, if they differ.
      shapes: static shapes of the tensors; None: their own.
      dynamic_pad: pads the examples of a batch to one shape.
      allow_smaller_final_batch: whether the last examples of a bucket are a smaller batch.
      keep_input: boolean scalar; False: the example is left out.
      shared_name: name of the queues, for several sessions.
      name: scope of the operations.

    Returns:
      The bucket, an int32 scalar, and the batch in the structure of `tensors`; a single tensor
      comes without its list. They need `tf.train.start_queue_runners`.

    Raises:
      ValueError: no tensors, or a list that has not `num_buckets` elements.
    """
    per_bucket = isinstance(batch_size, list | tuple)
    sizes = list(batch_size) if per_bucket else [batch_size] * num_buckets
    capacities = list(bucket_capacities or [capacity] * num_buckets)
    for values, argument in ((sizes, "batch_size"), (capacities, "bucket_capacities")):
        if len(values) != num_buckets:
            raise ValueError(f"The list {argument} ({values}) must have {num_buckets} elements")
    flat = input_queues._as_tensor_list(tensors)
    if not flat:
        raise ValueError("Expected at least one tensor in bucket().")
    with tf.name_scope(name, "bucket", flat):
        flat = [tf.convert_to_tensor_or_sparse_tensor(tensor) for tensor in flat]
        keep_input = input_queues._validate_keep_input(keep_input, enqueue_many=False)
        flat, sparse = input_queues._store_sparse_tensors(flat, False, keep_input)
        types = input_queues._dtypes([flat])
        shapes = input_queues._shapes([flat], shapes, enqueue_many=False)
        names = [None if shared_name is None else f"{shared_name}_{i}" for i in range(num_buckets)]
        make = input_queues._which_queue(dynamic_pad)
        queues = [
            make(size, types, shapes, shared_name=shared, name=f"bucket_queue_{i}")
            for i, (size, shared) in enumerate(zip(capacities, names, strict=True))
        ]
        static = None if allow_smaller_final_batch or per_bucket else sizes[0]
        batch = tf.get_static_value(tf.convert_to_tensor(static)) if static is not None else None
        batches = tf.PaddingFIFOQueue(
            capacity,
            [tf.int32, *types],
            [
                tf.TensorShape([]),
                *(tf.TensorShape([batch]).concatenate(s) for s in queues[0].shapes),
            ],
            shared_name=shared_name,
            name="top_queue",
        )
        _add_readers(batches, queues, sizes, allow_smaller_final_batch)
        _add_writers(batches, queues, flat, which_bucket, keep_input, num_threads)
        tf.summary.scalar(
            f"bucket/{batches.name}/fraction_of_{capacity}_full",
            tf.cast(batches.size(), tf.float32) * (1.0 / capacity),
        )
        number, *values = batches.dequeue(name="dequeue_top")
        # As from `tf.train.batch`: a single tensor is not in a list.
        values = values[0] if len(values) == 1 else values
        restored = input_queues._restore_sparse_tensors(values, sparse)
        return number, input_queues._as_original_type(tensors, restored)


def bucket_by_sequence_length(
    input_length: Any,
    tensors: Any,
    batch_size: Any,
    bucket_boundaries: Sequence[int],
    num_threads: int = 1,
    capacity: int = 32,
    bucket_capacities: Sequence[int] | None = None,
    shapes: Any = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    keep_input: Any = True,
    shared_name: str | None = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """Returns batches of examples whose lengths are between the same boundaries.

    Args:
      input_length: length of the example, an int32 scalar.
      bucket_boundaries: increasing lengths; each is the least of its bucket, and the bucket before
        the first has all smaller ones.
      tensors, batch_size, num_threads, capacity, bucket_capacities, shapes, dynamic_pad,
        allow_smaller_final_batch, keep_input, shared_name, name: see `bucket`.

    Returns:
      The lengths `[batch]`, and the batch in the structure of `tensors`. Of a dictionary with one
      key the value is a list of the tensor, as it was.

    Raises:
      TypeError: the boundaries are no list of integers.
      ValueError: they are empty, or do not increase.
    """
    _check_boundaries(bucket_boundaries)
    flat = input_queues._as_tensor_list(tensors)
    with tf.name_scope(name, "bucket_by_sequence_length", [input_length, *flat]):
        length = tf.cast(input_length, tf.int32, name="input_length")
        at_least = tf.cast(length >= tf.constant(list(bucket_boundaries)), tf.int32)
        _, (lengths, *values) = bucket(
            [length, *flat],
            tf.reduce_sum(at_least),
            batch_size,
            len(bucket_boundaries) + 1,
            num_threads,
            capacity,
            bucket_capacities,
            None if shapes is None else [tf.TensorShape([]), *shapes],
            dynamic_pad,
            allow_smaller_final_batch,
            keep_input,
            shared_name,
        )
        return lengths, input_queues._as_original_type(tensors, values)


def _add_readers(batches: Any, queues: Any, sizes: Any, smaller: bool) -> None:
    """Adds the threads that make batches of the examples in each bucket."""
    enqueues = []
    for i, (queue, size) in enumerate(zip(queues, sizes, strict=True)):
        dequeue = queue.dequeue_up_to if smaller else queue.dequeue_many
        values = dequeue(size, name=f"read_bucket_{i}")
        values = values if isinstance(values, list | tuple) else [values]
        enqueues.append(batches.enqueue([tf.constant(i), *values], name=f"enqueue_from_bucket_{i}"))
    _add_runner(queues[0], enqueues, [batches])


def _add_writers(
    batches: Any, queues: Any, example: Any, which_bucket: Any, keep_input: Any, num_threads: int
) -> None:
    """Adds the threads that put examples into their buckets."""
    number = tf.convert_to_tensor(which_bucket, tf.int32, name="which_bucket")

    def enqueue() -> Any:
        return tf.group(
            *(
                tf.cond(tf.equal(number, i), lambda q=queue: q.enqueue(example), tf.no_op)
                for i, queue in enumerate(queues)
            ),
            name="group_enqueues",
        )

    write = smart_cond.smart_cond(keep_input, enqueue, tf.no_op)
    _add_runner(batches, [write] * num_threads, queues)


def _add_runner(queue: Any, enqueues: Any, closed: Any) -> None:
    """Adds a queue runner that closes the queues `closed` at the end of its input."""
    tf.train.add_queue_runner(
        tf.train.QueueRunner(
            queue,
            enqueues,
            close_op=tf.group(*(q.close() for q in closed)),
            cancel_op=tf.group(*(q.close(cancel_pending_enqueues=True) for q in closed)),
            queue_closed_exception_types=(tf.errors.OutOfRangeError, tf.errors.CancelledError),
        )
    )


def _check_boundaries(boundaries: Any) -> None:
    if not isinstance(boundaries, list | tuple):
        raise TypeError(f"bucket_boundaries must be a list or tuple, but received: {boundaries}")
    if not boundaries:
        raise ValueError("bucket_boundaries must not be empty")
    for first, second in itertools.pairwise(boundaries):
        if not isinstance(first, int) or not isinstance(second, int):
            raise TypeError(f"bucket boundaries must be integers, but saw: {first} and {second}")
        if first >= second:
            raise ValueError(
                "Buckets must contain sequential increasing lengths, but saw: "
                f"{first} before {second}"
            )
