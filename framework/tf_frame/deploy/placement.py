"""Placement of variables and tables, whatever API creates them.

Without it, variables would be on the device of the clone that makes them. The variable creator
installed here moves each variable to the variables device; `get_variable`, `tf.Variable` and
layer libraries all call it. Tables have no creator; a device function moves them, and the
operations that use them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.deploy.deployment_config import TABLE_TYPES, DeploymentConfig
from tf_frame.deploy.placement_strategies import RoundRobin, size_bytes

# Operations that work on a table; each must run where the table is.
_TABLE_USERS = ("LookupTable", "InitializeTable")


@contextlib.contextmanager
def variables_placed(
    config: DeploymentConfig, strategy: RoundRobin | None = None
) -> Iterator[None]:
    """Places variables and tables that are created within.

    Without parameter servers they are on CPU:0. With them `strategy` chooses the task, for
    the whole scope, so open one scope around everything that creates variables. Slots stay
    beside their variable. Local variables belong to the worker that initialises them, and
    are on its CPU:0.

    Tables of an input pipeline should stay with the pipeline: make them in
    `tf.device(None)`, which this scope does not reach.

    Args:
      config: jobs and number of tasks.
      strategy: from `tf_frame.deploy.placement_strategies`; None: in turn.
    """
    placer = _Placer(config, strategy or RoundRobin(config))
    with tf.device(placer.table_device), tf.variable_creator_scope(placer.create):
        yield


class _Placer:
    """Applies a strategy, and reports to it where variables were made."""

    def __init__(self, config: DeploymentConfig, strategy: RoundRobin) -> None:
        self._config = config
        self._strategy = strategy

    def create(self, next_creator: Callable[..., Any], **kwargs: Any) -> Any:
        """A variable creator."""
        if tf.GraphKeys.LOCAL_VARIABLES in (kwargs.get("collections") or ()):
            return _create_on(self._config.optimizer_device(), next_creator, kwargs)
        name = _operation_name(kwargs.get("name"))
        device = self._config.ps_task_device(self._strategy.task_of(name))
        variable = _create_on(device, next_creator, kwargs)
        if variable.op.colocation_groups() in ([], [f"loc:@{variable.op.name}".encode()]):
            self._strategy.placed(name, size_bytes(variable))
        else:
            self._joined(variable)
        return variable

    def table_device(self, op: Any) -> str:
        """A device function; the outer scope may overrule the device of the clone."""
        kind = op.type
        if kind in TABLE_TYPES:
            task = self._strategy.task_of(op.name)
            self._strategy.placed(op.name, 0)
            return self._config.ps_task_device(task)
        if kind.startswith(_TABLE_USERS):
            return str(op.inputs[0].device or op.device)
        return str(op.device)

    def _joined(self, variable: Any) -> None:
        spec = tf.DeviceSpec.from_string(variable.device)
        if spec.job == self._config.ps_job_name and spec.task is not None:
            self._strategy.joined(spec.task, size_bytes(variable))


def _create_on(device: str, next_creator: Callable[..., Any], kwargs: dict[str, Any]) -> Any:
    # device(None) drops outer devices, among which a function could overrule this one.
    with tf.device(None), tf.device(device):
        return next_creator(**kwargs)


def _operation_name(name: str | None) -> str:
    """The full name that a variable's operation will have."""
    name = (name or "Variable").rstrip("/")
    return str(tf.get_default_graph().unique_name(name, mark_as_used=False))
