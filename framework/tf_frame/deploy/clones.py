"""Builds clones: replicas of a model in one graph, on several devices, with shared variables.

Each GPU of a machine computes a part of the batch, in one process.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import tensorflow.compat.v1 as tf

from tf_frame.deploy.deployment_config import DeploymentConfig
from tf_frame.errors import PluginError


class Clone(NamedTuple):
    """One copy of a model.

    Attributes:
      outputs: result of the model function.
      scope: name scope with the slash (`clone_0/`); empty for a single clone.
      device: device of the clone.
    """

    outputs: Any
    scope: str
    device: str


def create_clones(
    config: DeploymentConfig,
    model_fn: Callable[..., Any],
    args: Sequence[Any] | None = None,
    kwargs: Mapping[str, Any] | None = None,
    *,
    allow_own_variables: bool = False,
    origin: str = "the model",
) -> list[Clone]:
    """Calls `model_fn` once per clone, each in its name scope and on its device.

    The first clone creates the variables, and all clones share them. Call this in
    `variables_placed`, which chooses their devices.

    Args:
      config: number and devices of the clones.
      model_fn: builds one clone.
      args, kwargs: arguments of every call.
      allow_own_variables: whether a clone may train variables that other clones do not have; slim's
        model_deploy allows it without a message.
      origin: name of `model_fn` in messages.

    Raises:
      PluginError: a clone made a trainable variable that other clones do not share.
    """
    clones = []
    for index in range(config.num_clones):
        device = config.clone_device(index)
        before = len(tf.trainable_variables())
        with (
            tf.name_scope(config.clone_scope(index)) as scope,
            tf.device(device),
            tf.variable_scope(tf.get_variable_scope(), reuse=True if index else None),
        ):
            outputs = model_fn(*(args or ()), **(kwargs or {}))
        clones.append(Clone(outputs, scope, device))
        if config.num_clones > 1 and not allow_own_variables:
            _check_shared(tf.trainable_variables()[before:], index, scope, origin)
    return clones


def _check_shared(variables: Sequence[Any], index: int, scope: str, origin: str) -> None:
    """Refuses variables of one clone: other clones, and an evaluation, would not find them."""
    names = [v.op.name for v in variables if index or v.op.name.startswith(scope)]
    if names:
        raise PluginError(
            f"{origin} made trainable variables for clone {index} alone: {', '.join(names)}; "
            "clones share the variables of tf.compat.v1.get_variable: use it instead of "
            "tf.Variable, and tf_frame.layers instead of Keras layers; or --num_clones 1"
        )
