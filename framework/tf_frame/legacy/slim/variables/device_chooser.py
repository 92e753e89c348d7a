"""Which parameter server task, or which device, a variable goes to.

    chooser = VariableDeviceChooser(num_tasks=2)
    with arg_scope([slim.variable, slim.model_variable], device=chooser):
        ...

The class of tf_slim, ops/variables.py, and the one of the Inception trainer
(tensorflow/models, research/inception/inception/slim/variables.py) in one.
"""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.deploy.deployment_config import TABLE_TYPES, VARIABLE_TYPES

__all__ = ["VariableDeviceChooser"]


class VariableDeviceChooser:
    """A device function that deals variables out to the tasks of a job in turn.

    The old classes gave the next device to whatever operation asked. A
    reference variable asks once, but a resource variable once for its handle
    and again for the operations at it, so its reads came to lie on other tasks
    than the variable. Here only variables and tables take a turn, what works
    on one stays beside it, and other operations stay where they are.

    Args:
      num_tasks: tasks of the job; 0 means that there is none.
      job_name: job of the parameter servers.
      device_type: `CPU` or `GPU`.
      device_index: which of them; None for any.
      replica: replica in the device names; None for none.
      num_parameter_servers: the Inception trainer's name for `num_tasks`.
      ps_device: its name for the job, such as `/job:ps`.
      placement: its name for type and index, such as `GPU:0`; with parameter
        servers it counts for nothing, and CPU:0 is taken, as there.
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
            kept = "CPU:0" if self._num_tasks else placement
            self._device = tf.DeviceSpec.from_string(f"/device:{kept}")
        self._job = tf.DeviceSpec.from_string(ps_device or f"/job:{job_name}")
        self._next_task = 0

    def __call__(self, op: Any) -> str:
        """The device of an operation that is being made."""
        if op.type in VARIABLE_TYPES | TABLE_TYPES:
            return self._next_device()
        beside = _device_of_its_variable(op)
        if self._num_tasks or beside or op.device:
            return str(op.device or beside)
        return str(self._device.to_string())

    def _next_device(self) -> str:
        if not self._num_tasks:
            return str(self._device.to_string())
        task = self._job.replace(task=self._next_task)
        self._next_task = (self._next_task + 1) % self._num_tasks
        return str(task.make_merged_spec(self._device).to_string())


def _device_of_its_variable(op: Any) -> str:
    """The device of the variable or table that an operation works on; empty for none."""
    held = (tensor for tensor in op.inputs if tensor.dtype.base_dtype == tf.resource)
    first = next(held, None)
    return "" if first is None else str(first.device)
