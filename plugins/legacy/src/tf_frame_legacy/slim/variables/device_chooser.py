"""`VariableDeviceChooser`, which assigns variables to parameter server tasks or a device.

    chooser = VariableDeviceChooser(num_tasks=2)
    with arg_scope([slim.variable, slim.model_variable], device=chooser):
        ...

For scripts written for slim; the tasks get variables in turn, to share the load. Combines the
classes of tf_slim, ops/variables.py, and of the Inception trainer (tensorflow/models,
research/inception/inception/slim/variables.py).
"""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.deploy.deployment_config import TABLE_TYPES, VARIABLE_TYPES


class VariableDeviceChooser:
    """A device function that assigns variables to the tasks of a job in turn.

    The old classes assigned the next device to every operation, so the reads of a resource variable
    were on other tasks than the variable. This class assigns the next device only to variables and
    tables; operations on them are on their device, and other operations keep their device.

    Args:
      num_tasks: number of tasks of the job; 0: no job.
      job_name: job of the parameter servers.
      device_type: `CPU` or `GPU`.
      device_index: index of the device; None: any.
      replica: replica in the device names; None: no replica.
      num_parameter_servers: the Inception trainer's name of `num_tasks`.
      ps_device: the Inception trainer's argument for the job, such as `/job:ps`.
      placement: the Inception trainer's argument for type and index, such as `GPU:0`;
        with parameter servers it is ignored, and CPU:0 is used, as in that trainer.
    """

    def __init__(
        self,
        num_tasks: int = 0,
        job_name: str = "ps",
        device_type: str = "CPU",
        device_index: int | None = 0,
        replica: int | None = None,
        *,
        num_parameter_servers: int | None = None,
        ps_device: str | None = None,
        placement: str | None = None,
    ) -> None:
        self._num_tasks = num_tasks if num_parameter_servers is None else num_parameter_servers
        self._device = tf.DeviceSpec(
            replica=replica, device_type=device_type, device_index=device_index
        )
        if placement is not None:
            device = "CPU:0" if self._num_tasks else placement
            self._device = tf.DeviceSpec.from_string(f"/device:{device}")
        self._job = tf.DeviceSpec.from_string(ps_device or f"/job:{job_name}")
        self._next_task = 0

    def __call__(self, op: Any) -> str:
        """Returns the device of an operation that is being created."""
        if op.type in VARIABLE_TYPES | TABLE_TYPES:
            return self._next_device()
        variable_device = _variable_device(op)
        if self._num_tasks or variable_device or op.device:
            return str(op.device or variable_device)
        return str(self._device.to_string())

    def _next_device(self) -> str:
        if not self._num_tasks:
            return str(self._device.to_string())
        task = self._job.replace(task=self._next_task)
        self._next_task = (self._next_task + 1) % self._num_tasks
        return str(task.make_merged_spec(self._device).to_string())


def _variable_device(op: Any) -> str:
    """Returns the device of the variable or table that an operation uses; empty if none."""
    resources = (tensor for tensor in op.inputs if tensor.dtype.base_dtype == tf.resource)
    first = next(resources, None)
    return "" if first is None else str(first.device)
