"""Decoupled weight decay (Loshchilov and Hutter, arXiv:1711.05101) for any optimizer.

The decay is not multiplied by the learning rate: with a schedule, give the decay a schedule too.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame_legacy.contrib.opt.apply import scatter


class DecoupledWeightDecayExtension:
    """Base class beside an optimizer's, before it: decays variables before each step.

        class AdamW(DecoupledWeightDecayExtension, tf.train.AdamOptimizer): ...

    Args:
      weight_decay: share of a variable that a step subtracts: a number or tensor, or a function
        that returns it. For a sparse gradient only its rows decay.
      **kwargs: arguments of the optimizer.
    """

    def __init__(self, weight_decay: Any, **kwargs: Any) -> None:
        self._weight_decay = weight_decay
        self._decay_var_list: Any = None
        self._weight_decay_tensor: Any = None
        super().__init__(**kwargs)

    def minimize(
        self,
        loss: Any,
        global_step: Any = None,
        var_list: Any = None,
        gate_gradients: int = tf.train.Optimizer.GATE_OP,
        aggregation_method: Any = None,
        colocate_gradients_with_ops: bool = False,
        name: str | None = None,
        grad_loss: Any = None,
        decay_var_list: Iterable[Any] | None = None,
    ) -> Any:
        """Returns the operation of a step; only `decay_var_list` decays, by default all."""
        pairs = self.compute_gradients(  # type: ignore[attr-defined]
            loss,
            var_list=var_list,
            gate_gradients=gate_gradients,
            aggregation_method=aggregation_method,
            colocate_gradients_with_ops=colocate_gradients_with_ops,
            grad_loss=grad_loss,
        )
        if all(gradient is None for gradient, _ in pairs):
            raise ValueError(
                f"No gradients provided for any variable, between variables "
                f"{[str(variable) for _, variable in pairs]} and loss {loss}."
            )
        return self.apply_gradients(pairs, global_step, name, decay_var_list)

    def apply_gradients(
        self,
        grads_and_vars: Any,
        global_step: Any = None,
        name: str | None = None,
        decay_var_list: Iterable[Any] | None = None,
    ) -> Any:
        """Returns the operation of a step; only `decay_var_list` decays, by default all."""
        self._decay_var_list = decay_var_list and {v.op.name for v in decay_var_list}
        return super().apply_gradients(  # type: ignore[misc]
            grads_and_vars, global_step=global_step, name=name
        )

    def _prepare(self) -> None:
        decay = self._weight_decay() if callable(self._weight_decay) else self._weight_decay
        self._weight_decay_tensor = tf.convert_to_tensor(decay, name="weight_decay")
        super()._prepare()  # type: ignore[misc]

    def _decay(self, var: Any, grad: Any, indices: Any = None) -> list[Any]:
        """Returns the operation, in a list, that decays a variable or rows of it."""
        if self._decay_var_list and var.op.name not in self._decay_var_list:
            return []
        decay = tf.cast(self._weight_decay_tensor, var.dtype.base_dtype)
        # The gradient is that of the variable before the decay.
        with tf.control_dependencies([grad]):
            if indices is not None:
                return [scatter("sub", var, indices, decay * tf.gather(var, indices))]
            locking = self._use_locking  # type: ignore[attr-defined]
            return [var.assign_sub(decay * var, locking, read_value=False)]

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        with tf.control_dependencies(self._decay(var, grad)):
            return super()._apply_dense(grad, var)  # type: ignore[misc]

    def _resource_apply_dense(self, grad: Any, var: Any) -> Any:
        with tf.control_dependencies(self._decay(var, grad)):
            return super()._resource_apply_dense(grad, var)  # type: ignore[misc]

    def _apply_sparse(self, grad: Any, var: Any) -> Any:
        with tf.control_dependencies(self._decay(var, grad.values, grad.indices)):
            return super()._apply_sparse(grad, var)  # type: ignore[misc]

    def _resource_apply_sparse(self, grad: Any, var: Any, indices: Any) -> Any:
        with tf.control_dependencies(self._decay(var, grad, indices)):
            return super()._resource_apply_sparse(grad, var, indices)  # type: ignore[misc]


def extend_with_decoupled_weight_decay(base_optimizer: Any) -> Any:
    """Returns a class like an optimizer's whose first argument is the weight decay."""

    class OptimizerWithDecoupledWeightDecay(DecoupledWeightDecayExtension, base_optimizer):  # type: ignore[misc]
        """An optimizer with decoupled weight decay."""

        def __init__(self, weight_decay: Any, *args: Any, **kwargs: Any) -> None:
            # Positional arguments are the optimizer's, and the extension takes only names.
            names = list(inspect.signature(base_optimizer.__init__).parameters)[1:]
            super().__init__(weight_decay, **dict(zip(names, args, strict=False)), **kwargs)

    return OptimizerWithDecoupledWeightDecay


class MomentumWOptimizer(DecoupledWeightDecayExtension, tf.train.MomentumOptimizer):
    """Momentum with decoupled weight decay: SGDW of the paper."""

    def __init__(
        self,
        weight_decay: Any,
        learning_rate: Any,
        momentum: Any,
        use_locking: bool = False,
        name: str = "MomentumW",
        use_nesterov: bool = False,
    ) -> None:
        super().__init__(
            weight_decay,
            learning_rate=learning_rate,
            momentum=momentum,
            use_locking=use_locking,
            name=name,
            use_nesterov=use_nesterov,
        )


class AdamWOptimizer(DecoupledWeightDecayExtension, tf.train.AdamOptimizer):
    """Adam with decoupled weight decay."""

    def __init__(
        self,
        weight_decay: Any,
        learning_rate: Any = 0.001,
        beta1: Any = 0.9,
        beta2: Any = 0.999,
        epsilon: Any = 1e-8,
        use_locking: bool = False,
        name: str = "AdamW",
    ) -> None:
        super().__init__(
            weight_decay,
            learning_rate=learning_rate,
            beta1=beta1,
            beta2=beta2,
            epsilon=epsilon,
            use_locking=use_locking,
            name=name,
        )
