"""The loss of an evaluation: a mean over all examples, or over all things that the model counts.

The mean of the batches' means would depend on the batch size: the few examples of a smaller last
batch, or the few labelled pixels of a batch, would weigh as much as many.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.graph.inputs.streams import batch_leaves

_LOG = logging.getLogger("tf_frame")


def mean_loss(loss: Any, terms: Sequence[Any], features: Any, labels: Any) -> tuple[Any, Any]:
    """Returns the loss over all batches, and the op that adds a batch.

    The value is 0 before the first batch, and for a term with a count of 0.

    Args:
      loss: scalar, the loss of the batch.
      terms: `loss_terms` of a `ModelOutput`; without any, the loss is a mean over the examples.
      features, labels: the batch.
    """
    if not terms:
        number = count_examples(features, labels)
        if number is None:
            _LOG.warning(
                "the features have no common first dimension that tells the number of examples, so "
                "the loss of an evaluation is the mean over its batches, whatever their sizes; "
                "ModelOutput(loss_terms=...) of the model can name other counts"
            )
            number = 1
        count = tf.cast(number, tf.float64)
        terms = [(tf.cast(loss, tf.float64) * count, count)]
    # In 32 bits, the sums of large evaluations would stop to grow.
    batch = tf.stack([[tf.cast(part, tf.float64) for part in term] for term in terms])
    total = tf.get_variable(
        "loss_of_evaluation",
        shape=batch.shape,
        dtype=tf.float64,
        initializer=tf.zeros_initializer(),
        trainable=False,
        collections=[tf.GraphKeys.LOCAL_VARIABLES, tf.GraphKeys.METRIC_VARIABLES],
    )
    sums, counts = tf.unstack(tf.convert_to_tensor(total), axis=1)
    value = tf.reduce_sum(tf.div_no_nan(sums, counts))
    return tf.cast(value, loss.dtype), tf.assign_add(total, batch)


def count_examples(features: Any, labels: Any) -> Any:
    """Returns the number of examples in a batch, a scalar; None if the shapes do not tell it.

    The number is the first dimension of the features, or of the labels where the features have no
    common one. Where some of the dimensions vary by batch, the others do not count.

    Args:
      features, labels: of a batch, or a list of each from several inputs; their examples are
        added up.
    """
    if isinstance(features, list):
        numbers = [count_examples(*batch) for batch in zip(features, labels, strict=True)]
        return None if any(number is None for number in numbers) else tf.add_n(numbers)
    for part in (features, labels):
        tensors = filter(tf.is_tensor, batch_leaves(part))
        leaves = [tensor for tensor in tensors if tensor.shape.rank != 0]
        sizes = [leaf.shape[:1].num_elements() for leaf in leaves]
        if leaves and (None in sizes or len(set(sizes)) == 1):
            return _rows(leaves[sizes.index(None) if None in sizes else 0])
    return None


def _rows(leaf: Any) -> Any:
    """Returns the first dimension of a tensor, dense, sparse or ragged; 1 for a scalar."""
    if isinstance(leaf, tf.RaggedTensor):
        return tf.cast(leaf.nrows(), tf.int64)
    if isinstance(leaf, tf.SparseTensor):
        return leaf.dense_shape[0]
    return tf.reduce_prod(tf.shape(leaf, out_type=tf.int64)[:1])
