"""Places variables and tables on parameter servers, round-robin or balanced by bytes.

Workers read and update all variables in each step, so the server with the most bytes limits the
job. TensorFlow and slim place variables round-robin; `Balanced` spreads the bytes evenly.

    sizes = variable_sizes(build_model)
    with variables_placed(config, Balanced(config, sizes)):
        build_model()

Every worker builds the same graph, so all workers have the same assignment.

Without this scope, variables would be on the device of the clone that makes them. The scope has a
variable creator, which moves each variable to the variables device; `get_variable`, `tf.Variable`
and layer libraries all call it. Tables have no creator; a device function moves tables, and the
operations that use them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.deploy.deployment_config import TABLE_TYPES, DeploymentConfig

# Operations that use a table; they must run on the device of the table.
_TABLE_USERS = ("LookupTable", "InitializeTable")


class RoundRobin:
    """Task 0, task 1, ... in the order of creation; slots take no turn.

    The base class of strategies; every graph needs its own object.

    Args:
      config: number of parameter server tasks.
    """

    def __init__(self, config: DeploymentConfig) -> None:
        self._num_tasks = max(1, config.num_ps_tasks)
        self._turn = 0

    def choose_task(self, name: str) -> int:
        """Returns the task for a variable or table that is about to be made; changes nothing."""
        return self._turn

    def placed(self, name: str, size_bytes: int) -> None:
        """Called when a variable or table was made on the task of `choose_task`.

        The size is 0 for a table or an unknown shape.
        """
        self._turn = (self._turn + 1) % self._num_tasks

    def joined(self, task: int, size_bytes: int) -> None:
        """Called when a variable, such as a slot, was made on the task of another variable."""


class Balanced(RoundRobin):
    """About as many bytes for every task.

    Variables of known size are assigned beforehand, the largest first, each to the task with the
    fewest bytes: longest processing time first, at most 4/3 of the optimum (Graham, "Bounds on
    multiprocessing timing anomalies", 1969). A variable of unknown size is assigned when it is
    made, to the task with the fewest bytes then.

    Args:
      config: number of parameter server tasks.
      sizes: variable name -> bytes, from `variable_sizes`; default: none is known.
    """

    def __init__(self, config: DeploymentConfig, sizes: Mapping[str, int] | None = None) -> None:
        super().__init__(config)
        self._loads = [0] * self._num_tasks
        self._planned: dict[str, int] = {}
        sizes = sizes or {}
        # Names order variables of equal size, so that every worker has the same plan.
        for name in sorted(sizes, key=lambda name: (-sizes[name], name)):
            self._planned[name] = self._least_loaded()
            self._loads[self._planned[name]] += sizes[name]

    def choose_task(self, name: str) -> int:
        planned = self._planned.get(name)
        return self._least_loaded() if planned is None else planned

    def placed(self, name: str, size_bytes: int) -> None:
        if name not in self._planned:
            self._loads[self._least_loaded()] += size_bytes

    def joined(self, task: int, size_bytes: int) -> None:
        self._loads[task] += size_bytes

    def _least_loaded(self) -> int:
        return self._loads.index(min(self._loads))


@contextlib.contextmanager
def variables_placed(
    config: DeploymentConfig, strategy: RoundRobin | None = None
) -> Iterator[None]:
    """Places variables and tables that are created within.

    Without parameter servers they are on CPU:0. With them `strategy` chooses the tasks for the
    whole scope, so open one scope around all code that creates variables. Slots are on the task of
    their variable. Local variables belong to the worker that initialises them, on its CPU:0.

    Tables of an input pipeline should stay with the pipeline: make them in `tf.device(None)`, which
    this scope does not change.

    Args:
      config: jobs and number of tasks.
      strategy: a `RoundRobin` or `Balanced`; None: in turn.
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
        device = self._config.ps_task_device(self._strategy.choose_task(name))
        variable = _create_on(device, next_creator, kwargs)
        if variable.op.colocation_groups() in ([], [f"loc:@{variable.op.name}".encode()]):
            self._strategy.placed(name, size_bytes(variable))
            return variable
        spec = tf.DeviceSpec.from_string(variable.device)
        if spec.job == self._config.ps_job_name and spec.task is not None:
            self._strategy.joined(spec.task, size_bytes(variable))
        return variable

    def table_device(self, op: Any) -> str:
        """A device function, which moves tables and their users."""
        kind = op.type
        if kind in TABLE_TYPES:
            task = self._strategy.choose_task(op.name)
            self._strategy.placed(op.name, 0)
            return self._config.ps_task_device(task)
        if kind.startswith(_TABLE_USERS):
            return str(op.inputs[0].device or op.device)
        return str(op.device)


def _create_on(device: str, next_creator: Callable[..., Any], kwargs: dict[str, Any]) -> Any:
    # device(None) drops outer devices: an outer device function could overrule this device.
    with tf.device(None), tf.device(device):
        return next_creator(**kwargs)


def _operation_name(name: str | None) -> str:
    """The full name that a variable's operation will have."""
    name = (name or "Variable").rstrip("/")
    return str(tf.get_default_graph().unique_name(name, mark_as_used=False))


def variable_sizes(build: Callable[[], Any]) -> dict[str, int]:
    """Builds a scratch graph to measure its variables, without a session.

    Returns:
      Name -> bytes of the global variables with a known shape, in the order of their creation.
    """
    with tf.Graph().as_default():
        build()
        variables = tf.global_variables()
    return {v.op.name: size_bytes(v) for v in variables if v.shape.is_fully_defined()}


def size_bytes(variable: Any) -> int:
    """Returns the bytes of a variable; 0 if its shape is not fully known."""
    if not variable.shape.is_fully_defined():
        return 0
    return int(variable.shape.num_elements() * variable.dtype.base_dtype.size)
