"""Takes batches from a data set or from a queue function, one per clone, in a fixed order.

Clones (copies of the model) run in parallel; if they raced for the batches, no run could be
repeated. A collection holds the iterators, because checkpoints save their positions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.errors import DataError
from tf_frame.text import short_repr

Batch = tuple[Any, Any]

# Collections with the initializer of each stream's iterator, or the reason why it has no position.
_INITIALIZERS = "tf_frame/input_iterator_initializers"
_WITHOUT_POSITION = "tf_frame/inputs_without_position"


def dataset_batches(dataset: Any, count: int) -> list[Batch]:
    """Takes `count` batches of a data set of `(features, labels)` per step, one after the other.

    A `Scaffold` initialises the iterator together with the tables.
    """
    iterator = tf.data.make_initializable_iterator(dataset)
    tf.add_to_collection(tf.GraphKeys.TABLE_INITIALIZERS, iterator.initializer)
    tf.add_to_collection(_INITIALIZERS, iterator.initializer)
    return _in_turns(iterator.get_next, count)


def function_batches(
    function: Callable[[], Any], count: int, *, origin: str, plain_values: bool = False
) -> list[Batch]:
    """Takes batches from a function that reads a queue, one after the other.

    Args:
      function: returns `(features, labels)`; called once for each batch of a step.
      count: number of batches per step.
      origin: maker of the function, for messages.
      plain_values: whether a batch needs no tensors, but may consist of arrays, lists, None.

    Raises:
      DataError: the function returned something else, or the same batch again.
    """
    reason = f"{origin} returned no data set, and only the position in a data set can be saved"
    tf.add_to_collection(_WITHOUT_POSITION, reason)

    def checked() -> Batch:
        batch = function()
        is_pair = isinstance(batch, (tuple, list)) and len(batch) == 2
        if not (is_pair and (plain_values or batch_tensors(batch))):
            raise DataError(
                f"the function that {origin} returned must return tensors as "
                f"(features, labels), it returned {short_repr(batch)}"
            )
        return batch[0], batch[1]

    batches = _in_turns(checked, count)
    if count > 1 and batch_tensors(batches[0]) and _ids(batches[0]) == _ids(batches[1]):
        raise DataError(
            f"the function that {origin} returned gives the same tensors to every "
            "clone; it must take a new batch each time it is called, with dequeue() for example"
        )
    return batches


def iterator_initializers() -> list[Any]:
    """Returns the initializer of each data set's iterator in the default graph.

    The second input of the op is the handle of the iterator.
    """
    return list(tf.get_collection(_INITIALIZERS))


def streams_without_position() -> list[str]:
    """Returns why positions in the default graph cannot be saved, one reason per stream."""
    return list(tf.get_collection(_WITHOUT_POSITION))


def _in_turns(take: Callable[[], Any], count: int) -> list[Any]:
    """Calls `take` `count` times; each batch waits for the previous one."""
    batches: list[Any] = []
    for _ in range(count):
        with tf.control_dependencies(batch_tensors(batches[-1])[:1] if batches else []):
            batches.append(take())
    return batches


def batch_tensors(batch: Any) -> list[Any]:
    """Returns the tensors of a batch, with the components of sparse and ragged tensors."""
    parts = tf.nest.flatten(batch_leaves(batch), expand_composites=True)
    return [part for part in parts if tf.is_tensor(part)]


def batch_leaves(batch: Any) -> list[Any]:
    """Returns the parts of a batch; a sparse or ragged tensor is one part."""
    if isinstance(batch, Mapping):
        # tf.nest sorts keys, and fails if some are texts and others are numbers.
        return [leaf for part in batch.values() for leaf in batch_leaves(part)]
    if isinstance(batch, list | tuple):
        return [leaf for part in batch for leaf in batch_leaves(part)]
    leaves: list[Any] = tf.nest.flatten(batch)
    return leaves


def _ids(batch: Any) -> set[int]:
    return set(map(id, batch_tensors(batch)))
