"""Vectors in the place of numbers of symbols."""

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
    """Looks up a trained vector for each symbol of a sequence.

    The variable is `embeddings`, `[vocab_size, embed_dim]`. Source: tf.contrib.layers
    of TensorFlow 1.15, encoders.py; tf_slim does not have it.

    Args:
      ids: `[batch, length]`, or another shape; int32 or int64.
      vocab_size: number of symbols.
      embed_dim: size of a vector.
      unique: look up each symbol once, however often it comes: gradients of
        frequent symbols need less memory.
      initializer: of the vectors; None means that of the scope, else xavier's.
      regularizer: maps the variable to a scalar penalty, or None.
      trainable: whether the vectors are trained.
      scope: variable scope; "EmbedSequence" made unique when None.
      reuse: whether the variable is there already; its sizes may then be left out.

    Returns:
      `[batch, length, embed_dim]`.

    Raises:
      ValueError: a size is missing, and there is no variable to reuse.
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
    """Looks up each different number once, and puts the vectors where they belong.

    Args:
      params: `[symbols, ...]`, or a list of parts.
      ids: of any shape; int32 or int64.
      partition_strategy: how the numbers are divided among parts: "mod" or "div".
      name: name scope; "EmbeddingLookupUnique" made unique when None.

    Returns:
      The shape of `ids`, and then that of a vector.
    """
    with tf.name_scope(name, "EmbeddingLookupUnique", [params, ids]):
        ids = tf.convert_to_tensor(ids)
        different, places = tf.unique(tf.reshape(ids, [-1]))
        vectors = tf.nn.embedding_lookup(params, different, partition_strategy)
        flat = tf.gather(vectors, places)
        outputs = tf.reshape(flat, tf.concat([tf.shape(ids), tf.shape(flat)[1:]], axis=0))
        outputs.set_shape(ids.shape.concatenate(flat.shape[1:]))
        return outputs
