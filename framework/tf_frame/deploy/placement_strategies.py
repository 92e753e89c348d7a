"""Which parameter server task holds which variable: in turn, or by their bytes.

    sizes = variable_sizes(build_model)
    with variables_placed(config, balanced(config, sizes)):
        build_model()

Every worker builds the same graph, so it finds the same places by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

import tensorflow.compat.v1 as tf

from tf_frame.deploy.deployment_config import DeploymentConfig


class Strategy(Protocol):
    """Deals out the variables of one graph. One object serves one graph."""

    def task_of(self, name: str) -> int:
        """The task for a variable or table about to be made; asking settles nothing.

        Args:
          name: name of its operation.
        """

    def placed(self, name: str, size_bytes: int) -> None:
        """It was made on the task that `task_of` gave.

        Args:
          name: name of its operation.
          size_bytes: its size; 0 for a table or an unknown shape.
        """

    def joined(self, task: int, size_bytes: int) -> None:
        """A variable was made beside another one instead, as optimizer slots are.

        Args:
          task: task of that other one.
          size_bytes: size of the new one.
        """


class RoundRobin:
    """Task 0, task 1, ... and from the start again; slots take no turn.

    Args:
      num_tasks: parameter server tasks.
    """

    def __init__(self, num_tasks: int) -> None:
        self._num_tasks = num_tasks
        self._turn = 0

    def task_of(self, name: str) -> int:
        return self._turn

    def placed(self, name: str, size_bytes: int) -> None:
        self._turn = (self._turn + 1) % self._num_tasks

    def joined(self, task: int, size_bytes: int) -> None:
        pass


class Balanced:
    """Every task gets about as many bytes.

    Variables of known size are dealt out beforehand, the largest first, each to
    the task with the least: longest processing time first, at most 4/3 of the
    best that is possible (Graham, "Bounds on multiprocessing timing anomalies",
    1969). Others go to the task that has the least when they are made.

    Args:
      num_tasks: parameter server tasks.
      sizes: variable name -> bytes.
    """

    def __init__(self, num_tasks: int, sizes: Mapping[str, int]) -> None:
        self._loads = [0] * num_tasks
        self._planned: dict[str, int] = {}
        # The name decides among equals, so that every worker plans the same.
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


def round_robin(config: DeploymentConfig) -> Strategy:
    """Deals variables out in the order in which they are made."""
    return RoundRobin(max(1, config.num_ps_tasks))


def balanced(config: DeploymentConfig, sizes: Mapping[str, int] | None = None) -> Strategy:
    """Deals variables out by their bytes.

    Args:
      config: number of parameter server tasks.
      sizes: variable name -> bytes, from `variable_sizes`; without it, each
        variable is placed when it is made, without knowing what follows.
    """
    return Balanced(max(1, config.num_ps_tasks), sizes or {})


def variable_sizes(build: Callable[[], Any]) -> dict[str, int]:
    """Builds something in a scratch graph, without a session, to weigh its variables.

    Args:
      build: makes variables in the default graph.

    Returns:
      Name -> bytes of the global variables, in the order of their making. One
      without a fully known shape is left out: it is placed when it is made.
    """
    with tf.Graph().as_default():
        build()
        variables = tf.global_variables()
    return {v.op.name: size_bytes(v) for v in variables if v.shape.is_fully_defined()}


def size_bytes(variable: Any) -> int:
    """Bytes of a variable's value; 0 when its shape is not fully known."""
    if not variable.shape.is_fully_defined():
        return 0
    return int(variable.shape.num_elements() * variable.dtype.base_dtype.size)
