"""Optimizers around others: clipped variables, and losses that alternate."""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.graph.graph_edits import switch_branches


class VariableClippingOptimizer(tf.train.Optimizer):
    """Limits the norm of variables, or of rows, after each step of another optimizer.

    Args:
      opt: the other optimizer.
      vars_to_clip_dims: variable -> dimensions of its norms; for embeddings `[1]`, the norms of
        rows, so that a step limits only the rows with gradients.
      max_norm: the limit.
      use_locking: whether updates lock the variable.
      colocate_clip_ops_with_vars: computes on the variable's device.
      name: name of the operations.
    """

    def __init__(
        self,
        opt: Any,
        vars_to_clip_dims: Mapping[Any, Sequence[int]],
        max_norm: float,
        use_locking: bool = False,
        colocate_clip_ops_with_vars: bool = False,
        name: str = "VariableClipping",
    ) -> None:
        super().__init__(use_locking, name)
        self._opt, self._max_norm = opt, max_norm
        self._dims = {variable.op.name: list(dims) for variable, dims in vars_to_clip_dims.items()}
        self._colocate = colocate_clip_ops_with_vars

    def compute_gradients(self, *args: Any, **kwargs: Any) -> Any:
        return self._opt.compute_gradients(*args, **kwargs)

    def get_slot(self, *args: Any, **kwargs: Any) -> Any:
        return self._opt.get_slot(*args, **kwargs)

    def get_slot_names(self, *args: Any, **kwargs: Any) -> Any:
        return self._opt.get_slot_names(*args, **kwargs)

    def apply_gradients(
        self, grads_and_vars: Any, global_step: Any = None, name: str | None = None
    ) -> Any:
        pairs = list(grads_and_vars)
        with tf.name_scope(name, self._name) as scope:
            step = self._opt.apply_gradients(pairs, global_step=global_step)
            with tf.control_dependencies([step]):
                clips = [self._clip(*p) for p in pairs if p[0] is not None and self._limits(p[1])]
            return tf.group(step, *clips, name=scope)

    def _limits(self, variable: Any) -> bool:
        return variable.op.name in self._dims

    def _clip(self, gradient: Any, variable: Any) -> Any:
        dims = self._dims[variable.op.name]
        rows = isinstance(gradient, tf.IndexedSlices) and 0 not in dims
        with tf.name_scope(f"clip_{variable.op.name}"):
            with tf.colocate_with(variable, ignore_existing=not self._colocate):
                value = tf.gather(variable, gradient.indices) if rows else variable.read_value()
                excess = value - tf.clip_by_norm(value, self._max_norm, dims)
            if rows:
                return variable.scatter_sub(tf.IndexedSlices(excess, gradient.indices))
            return variable.assign_sub(excess, use_locking=self._use_locking)


class MultitaskOptimizerWrapper:
    """Leaves variables and slots alone where a gradient is all zeros.

    For losses of which a step uses one: without it, momentum would move the variables of others.

    Args:
      opt: the optimizer, whose methods it changes.

    Raises:
      TypeError: `opt` is no `tf.train.Optimizer`.
    """

    def __init__(self, opt: Any) -> None:
        if not isinstance(opt, tf.train.Optimizer):
            raise TypeError("Supplied optimizer must be an instance of tf.train.Optimizer")
        self._opt = opt
        for name in (
            "_apply_dense",
            "_resource_apply_dense",
            "_apply_sparse",
            "_resource_apply_sparse",
        ):
            setattr(opt, name, types.MethodType(_unless_zeros(getattr(opt, name)), opt))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._opt, name)


def clip_gradients_by_global_norm(
    gradients_variables: Any, clip_norm: float = 20.0
) -> tuple[list[tuple[Any, Any]], Any]:
    """Clips gradients by their global norm.

    Args:
      gradients_variables: pairs of gradient and variable.
      clip_norm: the limit.

    Returns:
      The pairs with clipped gradients, and the norm before.
    """
    gradients, variables = zip(*gradients_variables, strict=True)
    norm = tf.global_norm(gradients)
    clipped, _ = tf.clip_by_global_norm(gradients, clip_norm, use_norm=norm)
    return list(zip(clipped, variables, strict=True)), norm


def _unless_zeros(apply: Callable[..., Any]) -> Callable[..., Any]:
    def wrapper(_: Any, grad: Any, *args: Any, **kwargs: Any) -> Any:
        values = grad.values if isinstance(grad, tf.IndexedSlices) else grad

        def step() -> Any:
            with tf.control_dependencies([apply(grad, *args, **kwargs)]):
                return tf.no_op()

        # Branches that are functions cannot hold reference variables.
        with switch_branches():
            return tf.cond(tf.equal(tf.math.count_nonzero(values), 0), tf.no_op, step)

    return wrapper
