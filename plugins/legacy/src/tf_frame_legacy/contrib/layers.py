"""The part of `tf.contrib.layers` that is neither in slim nor a feature column.

The other names are `tf_frame_legacy.slim`'s and `tf_frame_legacy.contrib.feature_columns`'s.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame_legacy import slim
from tf_frame_legacy.slim.layers.sparse_ops import dense_to_sparse_tensor


def bow_encoder(
    ids: Any,
    vocab_size: int,
    embed_dim: int,
    sparse_lookup: bool = True,
    initializer: Any = None,
    regularizer: Callable[[Any], Any] | None = None,
    trainable: bool = True,
    scope: Any = None,
    reuse: Any = None,
) -> Any:
    """Returns the mean of the vectors of each row's words, a bag of words.

    Args:
      ids: `[batch, length]`, or a `tf.SparseTensor`.
      vocab_size: number of words.
      embed_dim: size of the vectors.
      sparse_lookup: whether words 0 of dense `ids` are padding.
      initializer, regularizer, trainable: of the variable `embeddings` `[words, size]`.
      scope: variable scope; None: `bow_encoder`, made unique.
      reuse: whether to reuse the variable.

    Returns:
      `[batch, embed_dim]`.

    Raises:
      ValueError: a size is missing.
      TypeError: sparse `ids` without `sparse_lookup`.
    """
    if not vocab_size or not embed_dim:
        raise ValueError("Must specify vocab size and embedding dimension")
    with tf.variable_scope(scope, "bow_encoder", [ids], reuse=reuse):
        embeddings = slim.model_variable(
            "embeddings",
            shape=[vocab_size, embed_dim],
            initializer=initializer,
            regularizer=regularizer,
            trainable=trainable,
        )
        is_sparse = isinstance(ids, tf.SparseTensor)
        if sparse_lookup:
            sparse_ids = ids if is_sparse else dense_to_sparse_tensor(ids)
            return tf.nn.safe_embedding_lookup_sparse(
                [embeddings], sparse_ids, combiner="mean", default_id=0
            )
        if is_sparse:
            raise TypeError(f"ids are expected to be dense Tensor, got: {ids}")
        return tf.reduce_mean(tf.nn.embedding_lookup(embeddings, ids), axis=1)


def safe_embedding_lookup_sparse(
    embedding_weights: Any,
    sparse_ids: Any,
    sparse_weights: Any = None,
    combiner: str | None = None,
    default_id: int | None = None,
    name: str | None = None,
    partition_strategy: str = "div",
    max_norm: float | None = None,
) -> Any:
    """`tf.nn.safe_embedding_lookup_sparse`, with the mean for a combiner of None."""
    return tf.nn.safe_embedding_lookup_sparse(
        embedding_weights,
        sparse_ids,
        sparse_weights,
        combiner or "mean",
        default_id,
        name,
        partition_strategy,
        max_norm,
    )
