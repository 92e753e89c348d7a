"""Copies of a model on several devices, and one update from all of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import tensorflow.compat.v1 as tf

from tf_frame.deploy.deployment_config import DeploymentConfig


class Clone(NamedTuple):
    """One copy of a model.

    Attributes:
      outputs: what the model function returned.
      scope: its name scope with the slash (`clone_0/`); empty for a single one.
      device: its device.
    """

    outputs: Any
    scope: str
    device: str


def create_clones(
    config: DeploymentConfig,
    model_fn: Callable[..., Any],
    args: Sequence[Any] = (),
    kwargs: Mapping[str, Any] | None = None,
) -> list[Clone]:
    """Calls `model_fn` once per clone, each in its name scope and on its device.

    Variables are created by the first clone and shared by the others; open
    `variables_placed` around this to put them where they belong.

    Args:
      config: number and devices of the clones.
      model_fn: builds one clone.
      args, kwargs: what every call gets.
    """
    clones = []
    for index in range(config.num_clones):
        device = config.clone_device(index)
        with (
            tf.name_scope(config.clone_scope(index)) as scope,
            tf.device(device),
            tf.variable_scope(tf.get_variable_scope(), reuse=True if index else None),
        ):
            outputs = model_fn(*args, **(kwargs or {}))
        clones.append(Clone(outputs, scope, device))
    return clones
