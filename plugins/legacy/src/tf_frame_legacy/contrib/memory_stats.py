"""tf.contrib.memory_stats: memory of GPUs; TensorFlow 2 has no operations for it.

    with tf.device("/device:GPU:0"):
        peak = memory_stats.MaxBytesInUse()

The device is that of the call; without one, the first GPU. Processors have 0, as they had.
"""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf
from tensorflow.python.client import device_lib


def BytesInUse() -> Any:
    """Returns an int64 scalar, the memory in use."""
    return _statistic(lambda device: tf.config.experimental.get_memory_info(device)["current"])


def MaxBytesInUse() -> Any:
    """Returns an int64 scalar, the largest memory in use so far."""
    return _statistic(lambda device: tf.config.experimental.get_memory_info(device)["peak"])


def BytesLimit() -> Any:
    """Returns an int64 scalar, the memory that TensorFlow may use."""
    return _statistic(_limit)


def _statistic(read: Any) -> Any:
    probe = tf.no_op()
    spec = tf.DeviceSpec.from_string(probe.device or "/device:GPU:0")
    device = f"{spec.device_type or 'GPU'}:{spec.device_index or 0}"

    def value() -> Any:
        present = device.startswith("GPU") and tf.config.list_physical_devices("GPU")
        return read(device) if present else 0

    with tf.device("/device:CPU:0"):
        result = tf.py_func(value, [], tf.int64, stateful=True)
    result.set_shape([])
    return result


def _limit(device: str) -> int:
    for local in device_lib.list_local_devices():
        if local.name.endswith(f"device:{device}"):
            return int(local.memory_limit)
    return 0
