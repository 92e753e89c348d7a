"""Fully connected layers, `bias_add`, and embedding lookups.

Arguments and variable names are slim's (embeddings: tf.contrib.layers), so networks for slim build
unchanged, and their checkpoints load.
"""

from __future__ import annotations

import functools
import numbers
from collections.abc import Callable
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.layers.arg_scope import add_arg_scope
from tf_frame.layers.outputs import finish_layer
from tf_frame.layers.sizes import channels_first, last_dimension
from tf_frame.layers.steps import LayerSteps, slim_layer
from tf_frame.layers.variables import model_variable

# Name of the gradient of products with large weights.
_GRADIENT = "TfFrameMatMul"
_LARGE_WEIGHTS = 1_000_000


@slim_layer("fully_connected")
def fully_connected(
    inputs: Any,
    num_outputs: int,
    *,
    steps: LayerSteps,
) -> tuple[Any, bool]:
    """Multiplies by weights; normalises or adds biases; applies the activation.

    Variables: `weights` of shape `[depth, num_outputs]`; `biases` of shape `[num_outputs]` unless
    there is a normalizer.

    Args:
      inputs: `[batch, ..., depth]`, of rank 2 or more, depth known.
      num_outputs: number of output features.
      scope: variable scope; None: "fully_connected", made unique.

    Returns:
      `[batch, ..., num_outputs]`.

    Raises:
      ValueError: `num_outputs` is not an integer, the rank is less than 2, or the
        depth is unknown.
    """
    if not isinstance(num_outputs, numbers.Integral):
        raise ValueError(f"num_outputs type should be one of [int], got {type(num_outputs)}.")
    shape = [last_dimension(inputs.shape, min_rank=2), int(num_outputs)]
    return multiply(inputs, steps.weights("weights", shape, like=inputs)), False


def multiply(inputs: Any, weights: Any) -> Any:
    """Multiplies inputs of rank 2 or more by weights: `[..., depth] x [depth, num_outputs]`."""
    if inputs.shape.rank != 2:
        return tf.tensordot(inputs, weights, axes=1, name="Tensordot")
    graph = tf.get_default_graph()
    names = {"MatMul": _GRADIENT} if _prefers_own_gradient(inputs, weights) else {}
    with graph.gradient_override_map(names):
        return tf.matmul(inputs, weights, name="MatMul")


def _prefers_own_gradient(inputs: Any, weights: Any) -> bool:
    """Returns whether the gradient of the inputs is quicker as the transpose of another product.

    TensorFlow multiplies the gradient of the outputs by the transposed weights. oneDNN is slow
    there if the weights are large and the batch is small. On two CPU cores, for weights of
    3136 x 1024: 6.1 ms against 2.2 for a batch of 32, 13.8 against 13.2 for 256, the same for 8;
    for weights of 512 x 512 there is no difference.
    """
    batch, size = inputs.shape[0], weights.shape.num_elements()
    if None in (getattr(batch, "value", batch), size) or inputs.dtype != tf.float32:
        return False
    return bool(16 <= batch <= 128 and size >= _LARGE_WEIGHTS)


def _product_gradient(op: Any, upstream: Any) -> tuple[Any, Any]:
    """Returns the gradients of `inputs x weights`; for the inputs `(weights x upstream')'`."""
    inputs, weights = op.inputs
    weights_gradient = tf.matmul(inputs, upstream, transpose_a=True)
    if "GPU" in op.device:
        return tf.matmul(upstream, weights, transpose_b=True), weights_gradient
    return tf.transpose(tf.matmul(weights, upstream, transpose_b=True)), weights_gradient


tf.RegisterGradient(_GRADIENT)(_product_gradient)


def _activated(activation_fn: Any, last_step: str) -> Any:
    """Returns the fully connected layer with another default activation."""
    layer = functools.partial(fully_connected, activation_fn=activation_fn)
    _, _, rest = (fully_connected.__doc__ or "").partition("\n")
    layer.__doc__ = f"Multiplies by weights; normalises or adds biases{last_step}.\n{rest}"
    return layer


linear = _activated(None, "")
elu = _activated(tf.nn.elu, "; applies `tf.nn.elu`")
relu = _activated(tf.nn.relu, "; applies `tf.nn.relu`")
relu6 = _activated(tf.nn.relu6, "; applies `tf.nn.relu6`")


@add_arg_scope
def bias_add(
    inputs: Any,
    activation_fn: Callable[..., Any] | None = None,
    initializer: Any = tf.zeros_initializer(),  # noqa: B008
    regularizer: Callable[..., Any] | None = None,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    data_format: str = "NHWC",
    scope: Any = None,
) -> Any:
    """Adds a bias to each channel; may serve as a `normalizer_fn`.

    Variable: `biases` of shape `[channels]`.

    Args:
      inputs: `[batch, ..., channels]`, or `[batch, channels, height, width]`.
      activation_fn: function that is applied last; None: none.
      initializer: initializer of the biases; None: no biases.
      regularizer: maps biases to a scalar penalty; None: no penalty.
      reuse: whether to reuse the existing variable of `scope`; None: as the outer scope does.
      variables_collections: list of collections, or "biases" -> list of collections.
      outputs_collections: collections that the outputs are added to; None: none.
      trainable: whether the biases are trained.
      data_format: "NHWC" or "NCHW".
      scope: variable scope; None: "BiasAdd", made unique.

    Raises:
      ValueError: another data format, unknown rank or number of channels, or a rank
        other than 4 with "NCHW".
    """
    first = channels_first(data_format)
    steps = LayerSteps(
        activation_fn=activation_fn,
        biases_initializer=initializer,
        biases_regularizer=regularizer,
        variables_collections=variables_collections,
        outputs_collections=outputs_collections,
        trainable=trainable,
    )
    with tf.variable_scope(scope, "BiasAdd", [inputs], reuse=reuse) as variable_scope:
        inputs = tf.convert_to_tensor(inputs)
        _check_channels(inputs.shape, first)
        outputs = steps.add_biases(inputs, first)
        return finish_layer(outputs, activation_fn, outputs_collections, variable_scope)


def _check_channels(shape: Any, first: bool) -> None:
    if shape.rank is None:
        raise ValueError("Dims of shape must be known but is None")
    if first and shape.rank != 4:
        raise ValueError(f"Data format NCHW only supports 4D Tensor, not rank {shape.rank}")
    if shape.as_list()[1 if first else -1] is None:
        raise ValueError(f"`C` dimension must be known but is None: {shape}")


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
      initializer: initializer of the vectors; None: the initializer of the variable
        scope, or xavier's.
      regularizer: maps the variable to a scalar penalty; None: no penalty.
      trainable: whether the vectors are trained.
      scope: variable scope; None: "EmbedSequence", made unique.
      reuse: whether to reuse the existing variable; its sizes may then be omitted.

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
      `[*shape of ids, *shape of a vector]`.
    """
    with tf.name_scope(name, "EmbeddingLookupUnique", [params, ids]):
        ids = tf.convert_to_tensor(ids)
        different, places = tf.unique(tf.reshape(ids, [-1]))
        vectors = tf.nn.embedding_lookup(params, different, partition_strategy)
        flat = tf.gather(vectors, places)
        outputs = tf.reshape(flat, tf.concat([tf.shape(ids), tf.shape(flat)[1:]], axis=0))
        outputs.set_shape(ids.shape.concatenate(flat.shape[1:]))
        return outputs
