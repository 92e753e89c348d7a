"""Computes the gradients of each clone, and sums, transforms and summarises them.

A clone is a copy of the model on one device, with its own part of the batch. The sum of all
gradients makes the same update as one device with the whole batch. Transforms (`--transform`) are
plugins that change the sum before the optimizer uses it, such as `clip_by_norm` and `freeze`.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.deploy.clones import Clone
from tf_frame.errors import ConfigError, PluginError, TfFrameError, UnmatchedPatternWarning
from tf_frame.gradient_transforms.values import GradsAndVars, dense, gradient_values, on_values
from tf_frame.plugin.origin import describe_method, describe_owner
from tf_frame.text import brief, listed, short_repr

logger = logging.getLogger("tf_frame")


def variables_to_train(scopes: Sequence[str] = (), *, origin: str = "the model") -> list[Any]:
    """Lists the variables that get gradients.

    Args:
      scopes: prefixes of variable names, as in slim's `--trainable_scopes`; `Logits` matches the
        scopes `Logits` and `LogitsAux`. Empty: every trainable variable.
      origin: maker of the variables, for messages.

    Returns:
      Trainable variables, scope by scope, each once.

    Raises:
      ConfigError: no variable is in any of the scopes.
      PluginError: there is no variable.
    """
    trainable: list[Any] = tf.trainable_variables()
    if not trainable:
        raise PluginError(
            f"{origin} made no trainable variable, so there is nothing to train; make variables "
            "by tf.compat.v1.get_variable"
        )
    if not scopes:
        return trainable
    chosen: dict[str, Any] = {}
    for scope in scopes:
        inside = {v.op.name: v for v in trainable if v.op.name.startswith(scope)}
        if not inside:
            scope_names = ", ".join(sorted({v.op.name.split("/")[0] for v in trainable}))
            warnings.warn(
                UnmatchedPatternWarning(
                    f"--trainable_scopes: {brief(scope)} has no trainable variable; there are "
                    f"{scope_names}"
                ),
                stacklevel=2,
            )
        chosen.update(inside)
    if not chosen:
        raise ConfigError(f"--trainable_scopes {','.join(scopes)}: no variable is left to train")
    return list(chosen.values())


def clone_gradients(
    clones: Sequence[Clone],
    losses: Sequence[Any],
    optimizer: Any,
    variables: Sequence[Any] | None = None,
) -> list[GradsAndVars]:
    """Differentiates each clone's loss on the clone's device, by `optimizer.compute_gradients`.

    Without `variables`, it differentiates by every trainable variable.
    """
    gradients = []
    variables = tf.trainable_variables() if variables is None else list(variables)
    for clone, loss in zip(clones, losses, strict=True):
        with tf.device(clone.device), tf.name_scope(clone.scope):
            gradients.append(optimizer.compute_gradients(loss, variables))
    return gradients


def sum_gradients(gradients: Sequence[GradsAndVars]) -> GradsAndVars:
    """Adds the clones' gradients, variable by variable.

    The clones' losses are already divided by their number, so the sum is the gradient of
    the mean. Gradients that are sparse in every clone stay `tf.IndexedSlices`; if one is
    dense, so is the sum. A variable without gradient in any clone keeps None.
    """
    pairs = []
    for pairs_of_clones in zip(*gradients, strict=True):
        variable = _shared_variable([variable for _, variable in pairs_of_clones])
        pairs.append((_sum([gradient for gradient, _ in pairs_of_clones], variable), variable))
    return pairs


def _shared_variable(variables: list[Any]) -> Any:
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


def check_gradients(grads_and_vars: GradsAndVars, *, origin: str) -> None:
    """Checks that the loss depends on a variable.

    Raises:
      PluginError: the loss depends on none; the message names `origin`, the maker of the loss.
    """
    if all(gradient is None for gradient, _ in grads_and_vars):
        names = [variable.op.name for _, variable in grads_and_vars]
        more = f" and {len(names) - 3} more" if len(names) > 3 else ""
        raise PluginError(
            f"the loss of {origin} depends on no trainable variable (there are: "
            f"{listed(names[:3])}{more}), so there is nothing to train; make the loss from the "
            "variables, by operations that have a gradient"
        )


def wait_for_loss(loss: Any, grads_and_vars: GradsAndVars) -> GradsAndVars:
    """Makes gradients wait for the loss: otherwise it might read updated variables.

    Only gradients wait. The chief of synchronous replicas updates in another thread; if its updates
    waited, the chief would compute the loss once more.
    """
    with tf.control_dependencies([loss]):
        return [(on_values(gradient, tf.identity), v) for gradient, v in grads_and_vars]


def transform_gradients(
    grads_and_vars: GradsAndVars, transforms: Sequence[Callable[[GradsAndVars], GradsAndVars]]
) -> GradsAndVars:
    """Applies the transforms in the order given.

    Raises:
      PluginError: a transform did not return pairs.
      ConfigError: no variable is left with a gradient.
    """
    for transform in transforms:
        returned = transform(list(grads_and_vars))
        grads_and_vars = _check_pairs(returned, transform, grads_and_vars)
    if all(gradient is None for gradient, _ in grads_and_vars):
        names = ", ".join(map(describe_owner, transforms))
        raise ConfigError(
            f"no trainable variable is left with a gradient after {names}; do they freeze "
            "everything?"
        )
    return grads_and_vars


def _check_pairs(returned: Any, transform: Any, grads_and_vars: GradsAndVars) -> GradsAndVars:
    """Checks that a transform returned pairs, at most one for each variable of its argument.

    Without the check, the optimizer would raise an error for a wrong gradient of a transform.
    """
    name = describe_method(transform, "__call__")
    if not (
        isinstance(returned, (list, tuple))
        and all(isinstance(pair, tuple) and len(pair) == 2 for pair in returned)
    ):
        raise PluginError(
            f"{name} returned {short_repr(returned)}; it must return a list of (gradient, "
            "variable) pairs"
        )
    expected = {id(variable) for _, variable in grads_and_vars}
    for gradient, variable in returned:
        if id(variable) not in expected:
            raise PluginError(
                f"{name} returned a pair with {short_repr(variable)}; it must return each of the "
                f"{len(grads_and_vars)} variables that it is given at most once, and no other"
            )
        expected.remove(id(variable))
        problem = _find_misfit(gradient, variable)
        if problem:
            raise PluginError(f"{name} returned for {variable.op.name} {problem}")
    return list(returned)


def _find_misfit(gradient: Any, variable: Any) -> str:
    """Explains why a gradient does not fit its variable; empty if it fits."""
    if gradient is None:
        return ""
    if not isinstance(gradient, (tf.Tensor, tf.IndexedSlices)):
        return f"{short_repr(gradient)}; a gradient must be a tensor, tf.IndexedSlices or None"
    if gradient.dtype.base_dtype != variable.dtype.base_dtype:
        types = gradient.dtype.base_dtype.name, variable.dtype.base_dtype.name
        return "a gradient of type {}; the variable has type {}".format(*types)
    if isinstance(gradient, tf.Tensor) and not gradient.shape.is_compatible_with(variable.shape):
        return f"a gradient of shape {gradient.shape}; the variable has shape {variable.shape}"
    return ""


def gradient_summaries(grads_and_vars: Iterable[tuple[Any, Any]]) -> list[Any]:
    """Summarises each gradient, and the global norm.

    Tags: the histogram `gradients/VARIABLE` of the finite elements (TensorFlow raises an error for
    infinite elements), and the L2 norms `gradient_norms/VARIABLE` and `gradient_norms/global`.
    Sparse gradients count by their slices. Variables without gradient are logged, as by
    `add_gradients_summaries` of tf_slim (training/training.py).

    Returns:
      Scalar string tensors, to be merged; they are in no collection.
    """
    summaries, norms = [], []
    with tf.name_scope(None), tf.device("/device:CPU:0"):
        for gradient, variable in grads_and_vars:
            name = variable.op.name
            if gradient is None:
                logger.info("Var %s has no gradient", name)
                continue
            values = gradient_values(gradient)
            norms.append(tf.norm(tf.cast(values, tf.float32)))
            finite = tf.boolean_mask(values, tf.math.is_finite(values))
            summaries.append(tf.summary.histogram(f"gradients/{name}", finite, collections=[]))
            summaries.append(_scalar(f"gradient_norms/{name}", norms[-1]))
        if norms:
            summaries.append(_scalar("gradient_norms/global", tf.norm(tf.stack(norms))))
    return summaries


def _scalar(tag: str, value: Any) -> Any:
    return tf.summary.scalar(tag, value, collections=[])
