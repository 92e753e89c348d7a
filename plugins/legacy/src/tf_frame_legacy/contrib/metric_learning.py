"""tf.contrib.losses.metric_learning: losses of embeddings."""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf


def contrastive_loss(
    labels: Any, embeddings_anchor: Any, embeddings_positive: Any, margin: float = 1.0
) -> Any:
    """Draws pairs of one class together, and others apart up to a margin.

    Hadsell, Chopra and LeCun, CVPR 2006; without the factor 1/2.

    Args:
      labels: `[batch]`, 1 for a pair of one class, 0 for others.
      embeddings_anchor, embeddings_positive: `[batch, size]`, with length 1.
      margin: distance beyond which others count 0.

    Returns:
      The mean, a scalar.
    """
    squares = tf.math.squared_difference(embeddings_anchor, embeddings_positive)
    distances = tf.sqrt(tf.reduce_sum(squares, 1))
    same = tf.cast(labels, distances.dtype)
    apart = tf.square(tf.maximum(margin - distances, 0.0))
    return tf.reduce_mean(
        same * tf.square(distances) + (1.0 - same) * apart, name="contrastive_loss"
    )


def npairs_loss(
    labels: Any,
    embeddings_anchor: Any,
    embeddings_positive: Any,
    reg_lambda: float = 0.002,
    print_losses: bool = False,
) -> Any:
    """Cross entropy of the similarities of all anchors and positives (Sohn, NIPS 2016).

    Args:
      labels: `[batch]`.
      embeddings_anchor, embeddings_positive: `[batch, size]`; rows of one number are a pair.
      reg_lambda: factor of the L2 penalty of the embeddings.
      print_losses: prints both parts in each run.

    Returns:
      A scalar.
    """
    squares = [
        tf.reduce_mean(tf.reduce_sum(tf.square(embeddings), 1))
        for embeddings in (embeddings_anchor, embeddings_positive)
    ]
    penalty = tf.multiply(0.25 * reg_lambda, tf.add_n(squares), name="l2loss")
    similarities = tf.matmul(embeddings_anchor, embeddings_positive, transpose_b=True)
    same = tf.cast(_same(labels), tf.float32)
    same /= tf.reduce_sum(same, 1, keepdims=True)
    losses = tf.nn.softmax_cross_entropy_with_logits(labels=same, logits=similarities)
    loss = tf.reduce_mean(losses, name="xentropy")
    if print_losses:
        loss = tf.Print(loss, ["cross entropy:", loss, "l2loss:", penalty])
    return penalty + loss


def triplet_semihard_loss(labels: Any, embeddings: Any, margin: float = 1.0) -> Any:
    """Triplet loss with semi-hard negatives (Schroff et al., FaceNet, arXiv:1503.03832).

    The negative of an anchor and a positive is the nearest one farther away than the positive; if
    there is none, the farthest.

    Args:
      labels: `[batch]`.
      embeddings: `[batch, size]`, with length 1.
      margin: between squared distances.

    Returns:
      The mean over pairs of one label, a scalar.
    """
    distances, same = _squared_distances(embeddings), _same(labels)
    different = tf.cast(~same, tf.float32)
    # [anchor, positive, negative]
    outside = tf.cast(distances[:, None, :] > distances[:, :, None], tf.float32)
    outside *= different[:, None, :]
    largest = tf.reduce_max(distances, 1, keepdims=True)
    smallest = tf.reduce_min(distances, 1, keepdims=True)
    nearest = tf.reduce_min((distances - largest)[:, None, :] * outside, 2) + largest
    farthest = tf.reduce_max((distances - smallest) * different, 1, keepdims=True) + smallest
    exists = tf.reduce_any(outside > 0, 2)
    negatives = tf.where(exists, nearest, tf.broadcast_to(farthest, tf.shape(nearest)))
    pairs = tf.linalg.set_diag(tf.cast(same, tf.float32), tf.zeros([tf.size(labels)]))
    losses = tf.maximum((margin + distances - negatives) * pairs, 0.0)
    return tf.truediv(tf.reduce_sum(losses), tf.reduce_sum(pairs), name="triplet_semihard_loss")


def _same(labels: Any) -> Any:
    labels = tf.reshape(labels, [-1])
    return tf.equal(labels[:, None], labels)


def _squared_distances(embeddings: Any) -> Any:
    lengths = tf.reduce_sum(tf.square(embeddings), 1)
    products = tf.matmul(embeddings, embeddings, transpose_b=True)
    distances = tf.maximum(lengths[:, None] + lengths - 2.0 * products, 0.0)
    return tf.linalg.set_diag(distances, tf.zeros_like(lengths))
