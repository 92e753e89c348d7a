"""`DeploymentConfig`: the devices of a worker's inputs, clones, variables and optimizer.

    config = DeploymentConfig(num_clones=2)
    config.clone_device(1) == "/device:GPU:1"

Fields, device names and errors are those of `DeploymentConfig` in slim's model_deploy
(tensorflow/models, research/slim/deployment), so that scripts for slim keep working.
`clone_device_type` is added for machines without GPUs, `all_reduce` for workers without parameter
servers.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterator
from typing import Any

# Types of operations that hold state between steps: STANDARD_PS_OPS of TensorFlow's
# training/device_setter.py, and tables. Full names: VariableShape, for example, only reads.
VARIABLE_TYPES = frozenset(("Variable", "VariableV2", "AutoReloadVariable", "VarHandleOp"))
_TABLES = ("HashTable", "MutableHashTable", "MutableHashTableOfTensors", "MutableDenseHashTable")
TABLE_TYPES = frozenset(
    name for table in _TABLES for name in (table, f"{table}V2", f"Anonymous{table}")
)


@dataclasses.dataclass(frozen=True)
class DeploymentConfig:
    """Devices of one worker replica.

    Attributes:
      num_clones: number of copies of the model in this replica.
      clone_on_cpu: whether every clone is on CPU:0.
      replica_id: number of this replica.
      num_replicas: number of worker replicas that train together.
      num_ps_tasks: number of parameter server tasks; 0 keeps variables on this machine.
      worker_job_name: job of the workers, with or without a task (`worker/task:1`).
      ps_job_name: job of the parameter servers.
      clone_device_type: `GPU`, or `CPU` to spread the clones over the logical
        devices CPU:0, CPU:1, ...
      first_clone, total_clones: number of the first clone among all clones, for their names; None:
        there are no other clones.
      num_devices: number of devices, which the clones use in turn; None: one for each clone.
      all_reduce: whether several replicas work without parameter servers: each replica holds the
        variables, on devices without a job. With device filters in the session, these are the
        devices of its own server.
    """

    num_clones: int = 1
    clone_on_cpu: bool = False
    replica_id: int = 0
    num_replicas: int = 1
    num_ps_tasks: int = 0
    worker_job_name: str = "worker"
    ps_job_name: str = "ps"
    clone_device_type: str = "GPU"
    all_reduce: bool = False
    first_clone: int = 0
    total_clones: int | None = None
    num_devices: int | None = None

    def __post_init__(self) -> None:
        if self.num_replicas > 1 and self.num_ps_tasks < 1 and not self.all_reduce:
            raise ValueError("When using replicas num_ps_tasks must be positive")
        if self.num_replicas > 1 or self.num_ps_tasks > 0:
            if not self.worker_job_name:
                raise ValueError("Must specify worker_job_name when using replicas")
            if not self.ps_job_name:
                raise ValueError("Must specify ps_job_name when using parameter server")
        if self.replica_id >= self.num_replicas:
            raise ValueError("replica_id must be less than num_replicas")

    @property
    def ps_device(self) -> str:
        """Job of the parameter servers, empty without them."""
        return f"/job:{self.ps_job_name}" if self.num_ps_tasks > 0 else ""

    @property
    def worker_device(self) -> str:
        """Job of the workers, empty without parameter servers."""
        return f"/job:{self.worker_job_name}" if self.num_ps_tasks > 0 else ""

    @property
    def has_gpu_clones(self) -> bool:
        """True if the clones run on GPUs."""
        return self.clone_device_type == "GPU" and not self.clone_on_cpu

    def clone_device(self, clone_index: int) -> str:
        """Device of one clone.

        Raises:
          ValueError: there is no such clone.
        """
        self._check_clone(clone_index)
        if self.clone_on_cpu:
            return f"{self.worker_device}/device:CPU:0"
        device = clone_index % (self.num_devices or self.num_clones)
        return f"{self.worker_device}/device:{self.clone_device_type}:{device}"

    def clone_scope(self, clone_index: int) -> str:
        """Name scope of one clone, without the slash; empty for a single clone."""
        self._check_clone(clone_index)
        several = (self.total_clones or self.num_clones) > 1
        return f"clone_{self.first_clone + clone_index}" if several else ""

    def optimizer_device(self) -> str:
        """Device of learning rate, summed gradients and update."""
        return f"{self.worker_device}/device:CPU:0"

    def inputs_device(self) -> str:
        """Device of the input pipeline."""
        return f"{self.worker_device}/device:CPU:0"

    def variables_device(self) -> str | Callable[[Any], str]:
        """Device of the variables.

        Returns:
          CPU:0 without parameter servers. With them a function for `tf.compat.v1.device` that
          assigns variables and tables to the tasks in turn; each call of this method begins with
          task 0.
        """
        if not self.num_ps_tasks:
            return "/device:CPU:0"
        tasks = itertools.cycle(range(self.num_ps_tasks))
        return lambda op: self._ps_device_for(op, tasks)

    def caching_device(self) -> Callable[[Any], str] | None:
        """Device that caches the variables of `get_variable`.

        Returns:
          With parameter servers, a function that returns the device of the reading operation;
          without them None.
        """
        return (lambda op: str(op.device)) if self.num_ps_tasks else None

    def ps_task_device(self, task: int) -> str:
        """Device of one parameter server task; CPU:0 without parameter servers."""
        task_name = f"/task:{task}" if self.num_ps_tasks else ""
        return f"{self.ps_device}{task_name}/device:CPU:0"

    def _ps_device_for(self, op: Any, tasks: Iterator[int]) -> str:
        if op.device:
            return str(op.device)
        if op.type not in VARIABLE_TYPES | TABLE_TYPES:
            return ""
        return self.ps_task_device(next(tasks))

    def _check_clone(self, clone_index: int) -> None:
        if clone_index >= self.num_clones:
            raise ValueError("clone_index must be less than num_clones")
