"""AdamW and LAMB as `tf.compat.v1.train.Optimizer`; training graphs take no optimizer of Keras.

The plugins with their options are in `adamw`. They import this module only when a run makes the
optimizer, so that quick commands such as `tf-frame plugins show` need no TensorFlow.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.optimizers.name_patterns import NamePatterns


class AdamWOptimizer(tf.train.Optimizer):
    """Adam with decoupled weight decay: algorithm 2 of Loshchilov and Hutter (arXiv:1711.05101).

    The decay is multiplied by the learning rate, as in PyTorch and Keras; in the paper it is
    multiplied by the schedule alone. A sparse gradient counts as zero in the other rows, as in
    `tf.train.AdamOptimizer`: the moments of all rows decay in every step.

    Args:
      learning_rate: scalar tensor.
      params: options with `beta1`, `beta2`, `epsilon` and `weight_decay`.
      excluded: variables without weight decay.
      name: name of the slots and operations.
    """

    def __init__(
        self, *, learning_rate: Any, params: Any, excluded: NamePatterns, name: str = "AdamW"
    ) -> None:
        super().__init__(use_locking=False, name=name)
        self._rate = learning_rate
        self._betas = (params.beta1, params.beta2)
        self._epsilon, self._weight_decay = params.epsilon, params.weight_decay
        self._excluded = excluded

    def _change(self, direction: Any, variable: Any) -> Any:
        """Returns the change of a variable per unit of the learning rate.

        Args:
          direction: bias-corrected mean gradient divided by the root of the mean square,
            of the variable's shape.
          variable: the variable.
        """
        if not self._weight_decay or self._excluded.match(variable.op.name):
            return direction
        return direction + self._weight_decay * tf.convert_to_tensor(variable)

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        self._excluded.warn_unmatched([variable.op.name for variable in var_list])
        # The same variable on every worker; otherwise the workers would have separate powers.
        first = min(var_list, key=lambda variable: variable.name)
        for power, beta in zip(("beta1_power", "beta2_power"), self._betas, strict=True):
            self._create_non_slot_variable(initial_value=beta, name=power, colocate_with=first)
        for variable in var_list:
            self._zeros_slot(variable, "m", self._name)
            self._zeros_slot(variable, "v", self._name)

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        mean, mean_square = (
            self._moved(var, slot, beta, power, value)
            for slot, beta, power, value in zip(
                ("m", "v"), self._betas, self._powers(), (grad, tf.square(grad)), strict=True
            )
        )
        direction = mean / (tf.sqrt(mean_square) + self._epsilon)
        change = tf.cast(self._rate, var.dtype.base_dtype) * self._change(direction, var)
        return tf.group(var.assign_sub(change, read_value=False))

    def _moved(self, var: Any, slot: str, beta: float, power: Any, value: Any) -> Any:
        """Moves a mean towards `value`; returns the mean, corrected for its initial value of 0."""
        mean = self.get_slot(var, slot)
        moved = beta * tf.convert_to_tensor(mean) + (1 - beta) * value
        with tf.control_dependencies([mean.assign(moved, read_value=False)]):
            return moved / (1 - tf.cast(power, moved.dtype))

    def _resource_apply_dense(self, grad: Any, handle: Any) -> Any:
        return self._apply_dense(grad, handle)

    def _apply_sparse(self, grad: Any, var: Any) -> Any:
        return self._resource_apply_sparse(grad.values, var, grad.indices)

    def _resource_apply_sparse(self, grad: Any, handle: Any, indices: Any) -> Any:
        rows = tf.cast(tf.shape(handle)[0], indices.dtype)
        return self._apply_dense(tf.math.unsorted_segment_sum(grad, indices, rows), handle)

    def _finish(self, update_ops: Sequence[Any], name_scope: str) -> Any:
        with tf.control_dependencies(update_ops):
            updates = [
                power.assign(power * beta, read_value=False)
                for power, beta in zip(self._powers(), self._betas, strict=True)
            ]
        return tf.group(*update_ops, *updates, name=name_scope)

    def _powers(self) -> list[Any]:
        """Returns the variables of `beta1 ** t` and `beta2 ** t` in step t, counted from 1."""
        with tf.init_scope():
            graph = tf.get_default_graph()
            names = ("beta1_power", "beta2_power")
            return [self._get_non_slot_variable(name, graph=graph) for name in names]


class LambOptimizer(AdamWOptimizer):
    """LAMB: algorithm 2 of You et al. (arXiv:1904.00962), with the identity for phi.

    Args:
      unscaled: variables without layer adaptation.
      **arguments: arguments of `AdamWOptimizer`.
    """

    def __init__(self, *, unscaled: NamePatterns, **arguments: Any) -> None:
        super().__init__(name="LAMB", **arguments)
        self._unscaled = unscaled

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        if self._unscaled is not self._excluded:
            self._unscaled.warn_unmatched([variable.op.name for variable in var_list])
        super()._create_slots(var_list)

    def _change(self, direction: Any, variable: Any) -> Any:
        change = super()._change(direction, variable)
        if self._unscaled.match(variable.op.name):
            return change
        size, change_size = tf.norm(variable), tf.norm(change)
        # With a ratio of 0, a variable that is initialised with zeros would never change.
        defined = (size > 0) & (change_size > 0)
        return tf.where(defined, size / change_size, tf.ones_like(size)) * change
