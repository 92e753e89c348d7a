"""Puts variables where they belong, whatever API creates them.

A device scope of a clone would drag the variables made in it along. The
creator installed here moves each one to the variables device, so that
`get_variable`, `tf.Variable` and layer libraries all obey.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.deploy.deployment_config import DeploymentConfig


@contextlib.contextmanager
def variables_placed(config: DeploymentConfig) -> Iterator[None]:
    """Places every variable created within by `config.variables_device()`.

    With parameter servers the tasks are dealt out over the whole scope, so
    open it once around everything that creates variables.
    """
    device = config.variables_device()

    def create(next_creator: Callable[..., Any], **kwargs: Any) -> Any:
        # device(None) drops the clone's device, which else would win over a device function.
        with tf.device(None), tf.device(device):
            return next_creator(**kwargs)

    with tf.variable_creator_scope(create):
        yield
