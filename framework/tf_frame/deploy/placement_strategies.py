"""Assignment of variables to parameter server tasks: in turn, or by bytes.

    sizes = variable_sizes(build_model)
    with variables_placed(config, Balanced(config, sizes)):
        build_model()

Every worker builds the same graph, and so finds the same assignment.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.deploy.deployment_config import DeploymentConfig


class RoundRobin:
    """Task 0, task 1, ... in the order of creation; slots take no turn.

    Base class of strategies; every graph needs its own object.

    Args:
      config: number of parameter server tasks.
    """

    def __init__(self, config: DeploymentConfig) -> None:
        self._num_tasks = max(1, config.num_ps_tasks)
        self._turn = 0

    def task_of(self, name: str) -> int:
        """The task for a variable or table that is about to be made; changes nothing.

        Args:
          name: name of its operation.
        """
        return self._turn

    def placed(self, name: str, size_bytes: int) -> None:
        """Called when a variable or table was made on the task of `task_of`.

        Args:
          name: name of its operation.
          size_bytes: its size; 0 for a table or an unknown shape.
        """
        self._turn = (self._turn + 1) % self._num_tasks

    def joined(self, task: int, size_bytes: int) -> None:
        """Called when a variable was made beside another one, such as an optimizer slot.

        Args:
          task: task of the other variable.
          size_bytes: size of the new one.
        """


class Balanced(RoundRobin):
    """About as many bytes for every task.

    Variables of known size are assigned beforehand, the largest first, each to the task
    with the fewest bytes: longest processing time first, at most 4/3 of the optimum
    (Graham, "Bounds on multiprocessing timing anomalies", 1969). Others are assigned when
    they are made, to the task with the fewest bytes then.

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

    def task_of(self, name: str) -> int:
        planned = self._planned.get(name)
        return self._least_loaded() if planned is None else planned

    def placed(self, name: str, size_bytes: int) -> None:
        if name not in self._planned:
            self._loads[self._least_loaded()] += size_bytes

    def joined(self, task: int, size_bytes: int) -> None:
        self._loads[task] += size_bytes

    def _least_loaded(self) -> int:
        return self._loads.index(min(self._loads))


def variable_sizes(build: Callable[[], Any]) -> dict[str, int]:
    """Builds a scratch graph to measure its variables, without a session.

    Args:
      build: makes variables in the default graph.

    Returns:
      Name -> bytes of the global variables, in the order of their creation, without those
      whose shape is not fully known.
    """
    with tf.Graph().as_default():
        build()
        variables = tf.global_variables()
    return {v.op.name: size_bytes(v) for v in variables if v.shape.is_fully_defined()}


def size_bytes(variable: Any) -> int:
    """Bytes of a variable; 0 if its shape is not fully known."""
    if not variable.shape.is_fully_defined():
        return 0
    return int(variable.shape.num_elements() * variable.dtype.base_dtype.size)
