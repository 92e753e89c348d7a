"""Dropout, https://jmlr.org/papers/v15/srivastava14a.html."""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.layers.arg_scope import add_arg_scope
from tf_frame.layers.conditions import constant_value, smart_where
from tf_frame.layers.outputs import collect_named_outputs


@add_arg_scope
def dropout(
    inputs: Any,
    keep_prob: Any = 0.5,
    noise_shape: Any = None,
    is_training: Any = True,
    outputs_collections: Any = None,
    scope: str | None = None,
    seed: int | None = None,
) -> Any:
    """Sets elements to 0 at random, and divides the others by `keep_prob`.

    Args:
      inputs: a tensor.
      keep_prob: how probable it is that an element stays; number or scalar tensor.
      noise_shape: shape of the random choices: where it has a 1, elements go together;
        where None, the size of the inputs.
      is_training: bool or scalar bool tensor; without training nothing changes.
      outputs_collections: collections that the outputs are added to.
      scope: variable scope; "Dropout" made unique when None.
      seed: of the operation; see `tf.set_random_seed`.

    Returns:
      A tensor like `inputs`.
    """
    with tf.variable_scope(scope, "Dropout", [inputs]) as opened:
        inputs = tf.convert_to_tensor(inputs)
        if constant_value(is_training) is False:
            outputs = tf.identity(inputs)
        else:
            # Not a branch of the graph: random operations there cannot be made to follow from
            # the step. Rate 0 changes nothing.
            rate = smart_where(is_training, 1.0 - keep_prob, 0.0)
            outputs = tf.nn.dropout(
                inputs, rate=rate, noise_shape=_known(noise_shape, inputs), seed=seed
            )
        return collect_named_outputs(outputs_collections, opened.name, outputs)


def _known(noise_shape: Any, inputs: Any) -> Any:
    """The shape, with the sizes of the inputs where it says None."""
    if not isinstance(noise_shape, list | tuple):
        return noise_shape
    sizes = tf.shape(inputs)
    return [sizes[axis] if size is None else size for axis, size in enumerate(noise_shape)]
