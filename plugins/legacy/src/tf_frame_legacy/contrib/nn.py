"""tf.contrib.nn: cross entropies with the old order, alpha dropout, sampled softmax losses."""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf
from tensorflow.python.ops import nn_impl

# Negative of SELU's saturation, scale * alpha (Klambauer et al., arXiv:1706.02515).
_SATURATION = -1.7580993408473766


def deprecated_flipped_softmax_cross_entropy_with_logits(
    logits: Any, labels: Any, dim: int = -1, name: str | None = None
) -> Any:
    """Calls `tf.nn.softmax_cross_entropy_with_logits` with the logits first."""
    return tf.nn.softmax_cross_entropy_with_logits(labels=labels, logits=logits, dim=dim, name=name)


def deprecated_flipped_sparse_softmax_cross_entropy_with_logits(
    logits: Any, labels: Any, name: str | None = None
) -> Any:
    """Calls `tf.nn.sparse_softmax_cross_entropy_with_logits` with the logits first."""
    return tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits, name=name)


def deprecated_flipped_sigmoid_cross_entropy_with_logits(
    logits: Any, targets: Any, name: str | None = None
) -> Any:
    """Calls `tf.nn.sigmoid_cross_entropy_with_logits` with the logits first."""
    return tf.nn.sigmoid_cross_entropy_with_logits(labels=targets, logits=logits, name=name)


def alpha_dropout(
    x: Any,
    keep_prob: Any,
    noise_shape: Any = None,
    seed: int | None = None,
    name: str | None = None,
) -> Any:
    """Dropout that keeps mean and variance of SELU units.

    Args:
      x: tensor of floats.
      keep_prob: probability that a unit is kept.
      noise_shape: shape of the random numbers, with 1 for units dropped together; None: of `x`.
      seed: of the random numbers.
      name: op name.

    Raises:
      ValueError: `keep_prob` is not in (0, 1].
    """
    with tf.name_scope(name, "alpha_dropout", [x]):
        x = tf.convert_to_tensor(x, name="x")
        if not tf.is_tensor(keep_prob) and not 0 < keep_prob <= 1:
            raise ValueError(
                "keep_prob must be a scalar tensor or a float in the range (0, 1], got "
                f"{keep_prob:g}"
            )
        keep = tf.convert_to_tensor(keep_prob, dtype=x.dtype, name="keep_prob")
        if tf.get_static_value(keep) == 1:
            return x
        noise = tf.shape(x) if noise_shape is None else noise_shape
        kept = tf.cast(tf.random_uniform(noise, seed=seed, dtype=x.dtype) >= 1 - keep, x.dtype)
        scale = tf.rsqrt(keep + keep * (1 - keep) * _SATURATION**2)
        return scale * (x * kept + _SATURATION * (1 - kept) - _SATURATION * (1 - keep))


def scaled_softplus(x: Any, alpha: Any, clip: Any = None, name: str | None = None) -> Any:
    """Returns `alpha * softplus(x / alpha)`, at most `clip`.

    Args:
      x: tensor of floats.
      alpha: positive scale, which may be a tensor.
      clip: largest result; None: without limit.
      name: op name.
    """
    with tf.name_scope(name, "scaled_softplus", [x, alpha]):
        x = tf.convert_to_tensor(x, name="x")
        alpha = tf.convert_to_tensor(alpha, dtype=x.dtype, name="alpha")
        y = alpha * tf.nn.softplus(x / alpha)
        return y if clip is None else tf.minimum(y, tf.cast(clip, x.dtype))


def sampled_sparse_softmax_loss(
    weights: Any,
    biases: Any,
    labels: Any,
    inputs: Any,
    num_sampled: int,
    num_classes: int,
    sampled_values: Any = None,
    remove_accidental_hits: bool = True,
    partition_strategy: str = "mod",
    name: str = "sampled_sparse_softmax_loss",
) -> Any:
    """Returns `tf.nn.sampled_softmax_loss` by a sparse cross entropy, for one label of an example.

    Args:
      weights: `[classes, size]`, or its parts.
      biases: `[classes]`.
      labels: int64 `[batch, 1]`.
      inputs: `[batch, size]`.
      num_sampled: sampled classes of a batch.
      num_classes: number of classes.
      sampled_values: result of a candidate sampler; None: log-uniform.
      remove_accidental_hits: whether sampled classes that are the label are left out.
      partition_strategy: `mod` or `div`, of the parts of the weights.
      name: op name.

    Returns:
      `[batch]`.
    """
    logits, _ = nn_impl._compute_sampled_logits(
        weights=weights,
        biases=biases,
        labels=labels,
        inputs=inputs,
        num_sampled=num_sampled,
        num_classes=num_classes,
        num_true=1,
        sampled_values=sampled_values,
        subtract_log_q=True,
        remove_accidental_hits=remove_accidental_hits,
        partition_strategy=partition_strategy,
        name=name,
    )
    # The true class is the first of the logits.
    first = tf.zeros([tf.shape(logits)[0]], tf.int64)
    return tf.nn.sparse_softmax_cross_entropy_with_logits(labels=first, logits=logits)


def rank_sampled_softmax_loss(
    weights: Any,
    biases: Any,
    labels: Any,
    inputs: Any,
    num_sampled: int,
    num_resampled: int,
    num_classes: int,
    num_true: int,
    sampled_values: Any,
    resampling_temperature: Any,
    remove_accidental_hits: bool,
    partition_strategy: str,
    name: str | None = None,
) -> Any:
    """Returns a sampled softmax loss over the hardest of the sampled classes.

    Args:
      weights: `[classes, size]`, or its parts; biases: `[classes]`.
      labels: int64 `[batch, num_true]`; inputs: `[batch, size]`.
      num_sampled: sampled classes of a batch.
      num_resampled: number of them that the loss uses, those with the largest logits.
      resampling_temperature: divides the logits before the comparison.
      biases, inputs, num_classes, num_true, sampled_values, remove_accidental_hits,
        partition_strategy, name: see `tf.nn.sampled_softmax_loss`.

    Raises:
      ValueError: wrong numbers of classes, or another partition strategy.
    """
    if num_sampled > num_classes:
        raise ValueError(
            f"num_sampled ({num_sampled}) cannot be greater than num_classes ({num_classes})"
        )
    if num_sampled <= num_resampled:
        raise ValueError(
            f"num_resampled ({num_resampled}) must be less than num_sampled ({num_sampled})"
        )
    if partition_strategy not in ("div", "mod"):
        raise ValueError(f"unsupported partition_strategy ({partition_strategy})")
    with tf.name_scope(name, "rank_sampled_softmax_loss", [labels, inputs]):
        sampled, true_count, counts = sampled_values or tf.nn.learned_unigram_candidate_sampler(
            labels, num_true, num_sampled, unique=True, range_max=num_classes
        )
        sampled = tf.cast(tf.stop_gradient(sampled), tf.int64)
        rows = tf.nn.embedding_lookup(weights, sampled, partition_strategy)
        offsets = tf.nn.embedding_lookup(biases, sampled, partition_strategy)
        logits = tf.reduce_logsumexp(
            tf.matmul(rows, inputs / resampling_temperature, transpose_b=True), axis=1
        )
        scores = logits + tf.reshape(offsets, [-1]) / resampling_temperature
        hardest = tf.nn.top_k(scores, k=num_resampled, sorted=False).indices
        chosen = tf.gather(sampled, hardest), tf.stop_gradient(true_count)
        return tf.nn.sampled_softmax_loss(
            weights=weights,
            biases=biases,
            labels=labels,
            inputs=inputs,
            num_sampled=num_resampled,
            num_classes=num_classes,
            num_true=num_true,
            sampled_values=(*chosen, tf.gather(tf.stop_gradient(counts), hardest)),
            remove_accidental_hits=remove_accidental_hits,
            partition_strategy=partition_strategy,
        )
