"""Conditions, clipped weights and pools of generated data."""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame_legacy import slim


def condition_tensor(tensor: Any, conditioning: Any) -> Any:
    """Returns a tensor plus a linear function of the condition.

    Args:
      tensor: `[batch, ...]`, whose other sizes are known.
      conditioning: `[batch, ...]`.
    """
    tensor.shape[1:].assert_is_fully_defined()
    size = tensor.shape[1:].num_elements()
    mapped = slim.fully_connected(slim.flatten(conditioning), size, activation_fn=None)
    return tensor + tf.reshape(mapped, tf.shape(tensor))


def condition_tensor_from_onehot(
    tensor: Any, one_hot_labels: Any, embedding_size: int = 256
) -> Any:
    """Returns a tensor that depends on an embedding of the label; see `condition_tensor`."""
    one_hot_labels.shape.assert_has_rank(2)
    one_hot_labels.shape[1:].assert_is_fully_defined()
    embedding = tf.get_variable("embedding", [int(one_hot_labels.shape[1]), embedding_size])
    condition = tf.nn.embedding_lookup(embedding, tf.argmax(one_hot_labels, axis=1))
    return condition_tensor(tensor, condition)


def clip_discriminator_weights(optimizer: Any, model: Any, weight_clip: float) -> Any:
    """Returns an optimizer that clips the variables of the discriminator; see `clip_variables`."""
    return clip_variables(optimizer, model.discriminator_variables, weight_clip)


def clip_variables(optimizer: Any, variables: Any, weight_clip: float) -> Any:
    """Returns an optimizer whose updates leave variables within `[-weight_clip, weight_clip]`.

    Raises:
      ValueError: `weight_clip` is negative.
    """
    if weight_clip < 0:
        raise ValueError(
            f"`discriminator_weight_clip` must be positive. Instead, was {weight_clip}"
        )
    return _ClippingOptimizer(optimizer, variables, weight_clip)


class _ClippingOptimizer(tf.train.Optimizer):
    """Clips values after the updates of another optimizer."""

    def __init__(self, optimizer: Any, variables: Any, limit: float) -> None:
        super().__init__(use_locking=True, name="VariableClipping")
        self._optimizer, self._clipped, self._limit = optimizer, list(variables), limit

    def compute_gradients(self, *args: Any, **kwargs: Any) -> Any:
        return self._optimizer.compute_gradients(*args, **kwargs)

    def get_slot(self, *args: Any, **kwargs: Any) -> Any:
        return self._optimizer.get_slot(*args, **kwargs)

    def get_slot_names(self, *args: Any, **kwargs: Any) -> Any:
        return self._optimizer.get_slot_names(*args, **kwargs)

    def apply_gradients(
        self, grads_and_vars: Any, global_step: Any = None, name: Any = None
    ) -> Any:
        with tf.name_scope(name, self.get_name()) as scope:
            pairs = list(grads_and_vars)
            update = self._optimizer.apply_gradients(pairs, global_step)
            with tf.control_dependencies([update]):
                clips = [
                    variable.assign(
                        tf.clip_by_value(variable.read_value(), -self._limit, self._limit)
                    )
                    for _, variable in pairs
                    if any(variable is clipped for clipped in self._clipped)
                ]
            return tf.group(update, *clips, name=scope)


def tensor_pool(
    input_values: Any,
    pool_size: int,
    pooling_probability: float = 0.5,
    name: str = "tensor_pool",
) -> Any:
    """Returns the values, or with a probability those of an earlier step.

    Args:
      input_values: a tensor or a structure of tensors.
      pool_size: number of earlier values that are kept; 0: none.
      pooling_probability: probability of an earlier value, once the pool is full.

    Raises:
      ValueError: `pool_size` is negative.
    """
    if pool_size < 0:
        raise ValueError("`pool_size` is negative.")
    if pool_size == 0:
        return input_values
    leaves = [tf.convert_to_tensor(value) for value in tf.nest.flatten(input_values)]
    with tf.name_scope(f"{name}_pool"):
        queue = tf.RandomShuffleQueue(pool_size, 0, [leaf.dtype for leaf in leaves])

        def fill() -> list[Any]:
            with tf.control_dependencies([queue.enqueue(leaves)]):
                return [tf.identity(leaf) for leaf in leaves]

        def exchange() -> list[Any]:
            old = queue.dequeue()
            old = old if isinstance(old, list) else [old]
            with tf.control_dependencies(old), tf.control_dependencies([queue.enqueue(leaves)]):
                return [tf.identity(leaf) for leaf in old]

        def keep() -> list[Any]:
            return [tf.identity(leaf) for leaf in leaves]

        def choose() -> Any:
            is_old = tf.random_uniform([]) < pooling_probability
            return tf.cond(is_old, exchange, keep, strict=True)

        chosen = tf.cond(queue.size() < pool_size, fill, choose, strict=True)
    for value, leaf in zip(chosen, leaves, strict=True):
        value.set_shape(leaf.shape)
    return tf.nest.pack_sequence_as(input_values, chosen)
