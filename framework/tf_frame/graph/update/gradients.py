"""Gradients of the clones, their sum, and the transforms between sum and update."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.deploy.clones import Clone
from tf_frame.errors import ConfigError, PluginError, TfFrameError
from tf_frame.gradient_transforms.values import GradsAndVars, dense, on_values
from tf_frame.graph.messages import seen


def clone_gradients(
    clones: Sequence[Clone],
    losses: Sequence[Any],
    optimizer: Any,
    variables: Sequence[Any] | None = None,
) -> list[GradsAndVars]:
    """Differentiates each clone's loss on the clone's device.

    Args:
      clones: the clones.
      losses: one scalar per clone.
      optimizer: whose `compute_gradients` is used.
      variables: what to differentiate by; None means every trainable variable.
    """
    gradients = []
    wanted = tf.trainable_variables() if variables is None else list(variables)
    for clone, loss in zip(clones, losses, strict=True):
        with tf.device(clone.device), tf.name_scope(clone.scope):
            gradients.append(optimizer.compute_gradients(loss, wanted))
    return gradients


def sum_gradients(gradients: Sequence[GradsAndVars]) -> GradsAndVars:
    """Adds the clones' gradients, variable by variable.

    The clones' losses are already divided by their number, so the sum is the
    gradient of the mean. Gradients that are sparse in every clone stay
    `tf.IndexedSlices`; if one is dense, so is the sum. A variable without
    gradient in any clone keeps None.
    """
    pairs = []
    for of_one in zip(*gradients, strict=True):
        variable = _shared([variable for _, variable in of_one])
        pairs.append((_sum([gradient for gradient, _ in of_one], variable), variable))
    return pairs


def _shared(variables: list[Any]) -> Any:
    """The variable that is the same in all clones."""
    if any(variable is not variables[0] for variable in variables):
        names = ", ".join(variable.op.name for variable in variables)
        raise TfFrameError(
            f"clones differentiate by different variables: {names}; give compute_gradients the "
            "same list for every clone"
        )
    return variables[0]


def _sum(gradients: list[Any], variable: Any) -> Any:
    present = [gradient for gradient in gradients if gradient is not None]
    if len(present) < 2:
        return present[0] if present else None
    if all(isinstance(gradient, tf.IndexedSlices) for gradient in present):
        return tf.IndexedSlices(
            tf.concat([gradient.values for gradient in present], axis=0),
            tf.concat([gradient.indices for gradient in present], axis=0),
            present[0].dense_shape,
        )
    tensors = [dense(gradient, variable) for gradient in present]
    return tf.add_n(tensors, name=f"{variable.op.name}/sum_grads")


def waiting_for(loss: Any, grads_and_vars: GradsAndVars) -> GradsAndVars:
    """Gradients that come after the loss, which else may read variables that have changed.

    Only they wait: what the chief of synchronous replicas does beside the steps
    must not, or it would compute the loss again.

    Args:
      loss: scalar tensor, the one that is reported.
      grads_and_vars: pairs; None gradients pass.
    """
    with tf.control_dependencies([loss]):
        return [(on_values(gradient, tf.identity), v) for gradient, v in grads_and_vars]


def transform_gradients(
    grads_and_vars: GradsAndVars, transforms: Iterable[Callable[[GradsAndVars], GradsAndVars]]
) -> GradsAndVars:
    """Applies the transforms in the order given.

    Raises:
      PluginError: a transform returned something else than pairs.
      ConfigError: no variable is left with a gradient.
    """
    for transform in transforms:
        grads_and_vars = _checked(transform(grads_and_vars), transform)
    if all(gradient is None for gradient, _ in grads_and_vars):
        raise ConfigError(
            "no trainable variable gets a gradient; is the loss made from the variables, "
            "and does a transform freeze everything?"
        )
    return grads_and_vars


def _checked(returned: Any, transform: Any) -> GradsAndVars:
    if isinstance(returned, (list, tuple)) and all(
        isinstance(pair, tuple) and len(pair) == 2 for pair in returned
    ):
        return list(returned)
    name = getattr(transform, "__name__", type(transform).__name__)
    raise PluginError(
        f"the gradient transform {name} must return a list of (gradient, variable) pairs, "
        f"it returned {seen(returned)}"
    )
