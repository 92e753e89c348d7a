"""Embeddings: trained vectors of integer ids."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.layers.arg_scope import add_arg_scope
from tf_frame.layers.variables import model_variable


@add_arg_scope
def embed_sequence(
    ids: Any,
    vocab_size: int | None = None,
    embed_dim: int | None = None,
    unique: bool = False,
    initializer: Any = None,
    regularizer: Callable[[Any], Any] | None = None,
    trainable: bool = True,
    scope: Any = None,
    reuse: Any = None,
) -> Any:
    """Looks up a trained vector for each id of a sequence.

    The variable is `embeddings`, `[vocab_size, embed_dim]`. Source: tf.contrib.layers
    of TensorFlow 1.15, encoders.py; tf_slim does not have this layer.

    Args:
      ids: `[batch, length]` or another shape; int32 or int64.
      vocab_size: number of different ids.
      embed_dim: size of a vector.
      unique: look up each different id once, which saves memory in the gradients of
        frequent ids.
      initializer: initializer of the vectors; None: that of the variable scope, or
        xavier's.
      regularizer: maps the variable to a scalar penalty; None: no penalty.
      trainable: whether the vectors are trained.
      scope: variable scope; None: "EmbedSequence", made unique.
      reuse: whether to reuse the existing variable, whose sizes may then be omitted.

    Returns:
      `[batch, length, embed_dim]`.

    Raises:
      ValueError: a size is missing, and no variable is reused.
    """
    if not (reuse or (vocab_size and embed_dim)):
        raise ValueError(
            "Must specify vocab size and embedding dimension when not reusing. Got "
            f"vocab_size={vocab_size} and embed_dim={embed_dim}"
        )
    with tf.variable_scope(scope, "EmbedSequence", [ids], reuse=reuse):
        sizes_known = vocab_size and embed_dim
        embeddings = model_variable(
            "embeddings",
            [vocab_size, embed_dim] if sizes_known else None,
            initializer=initializer,
            regularizer=regularizer,
            trainable=trainable,
        )
        look_up = embedding_lookup_unique if unique else tf.nn.embedding_lookup
        return look_up(embeddings, ids)


def embedding_lookup_unique(
    params: Any, ids: Any, partition_strategy: str = "mod", name: str | None = None
) -> Any:
    """Looks up each different id once, and copies the vectors to their places.

    Args:
      params: `[vocab_size, ...]`, or a list of partitions.
      ids: of any shape; int32 or int64.
      partition_strategy: assignment of ids to partitions: "mod" or "div".
      name: name scope; None: "EmbeddingLookupUnique", made unique.

    Returns:
      A tensor of the shape of `ids`, followed by that of a vector.
    """
    with tf.name_scope(name, "EmbeddingLookupUnique", [params, ids]):
        ids = tf.convert_to_tensor(ids)
        different, places = tf.unique(tf.reshape(ids, [-1]))
        vectors = tf.nn.embedding_lookup(params, different, partition_strategy)
        flat = tf.gather(vectors, places)
        outputs = tf.reshape(flat, tf.concat([tf.shape(ids), tf.shape(flat)[1:]], axis=0))
        outputs.set_shape(ids.shape.concatenate(flat.shape[1:]))
        return outputs
