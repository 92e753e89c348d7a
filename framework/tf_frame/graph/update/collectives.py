"""TensorFlow's collective operations in a graph: the members of a group add up their tensors.

They begin once every member runs them, and refuse members whose tensors have another shape.
"""

from __future__ import annotations

import contextlib
import dataclasses
import zlib
from collections.abc import Iterable, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.gradient_transforms.values import dense
from tf_frame.graph.update.packing import BUFFER_BYTES

WORKERS, CLONES = 1, 2


@dataclasses.dataclass
class Collectives:
    """The collectives of a group, and their numbers.

    Attributes:
      size: number of members, in all processes.
      key: tells the groups of a cluster apart.
      timeout_secs: seconds that a collective may wait for the others; 0: for ever. A worker
        may be slow for many reasons, and one that is gone is noticed without it.
      buffer_bytes: tensors are added in buffers of this size.
    """

    size: int
    key: int = dataclasses.field(default=WORKERS, kw_only=True)
    timeout_secs: float = dataclasses.field(default=0.0, kw_only=True)
    buffer_bytes: int = dataclasses.field(default=BUFFER_BYTES, kw_only=True)
    _keys: set[int] = dataclasses.field(default_factory=set, kw_only=True)

    def reduced(
        self, tensors: Sequence[Any], devices: Sequence[str], merge: str = "Add"
    ) -> list[Any]:
        """Combines a tensor of each of this process's members with those of the others.

        Args:
          tensors: of one type and shape; one in each worker, or one of each clone.
          devices: of the tensors.
          merge: "Add" or "Max".

        Returns:
          The result, on each of the devices.
        """
        instance = self._instance_key(f"{merge} {tensors[0].dtype.name} {tensors[0].shape}")
        totals = []
        for tensor, device in zip(tensors, devices, strict=True):
            with tf.device(device):
                # Not V2: its collectives share one count of steps, so that no two calls of a
                # session may run collectives at the same time.
                total = tf.raw_ops.CollectiveReduce(
                    input=tensor,
                    group_size=self.size,
                    group_key=self.key,
                    instance_key=instance,
                    merge_op=merge,
                    final_op="Id",
                    subdiv_offsets=[0],
                    timeout_seconds=self.timeout_secs,
                )
            total.set_shape(tensor.shape)
            totals.append(total)
        return totals

    def _instance_key(self, kind: str) -> int:
        """A number of a collective: the same in every worker, because all build the same graph.

        A server remembers the type and the shape that go with a key, and refuses others from
        the next graph of its process.
        """
        key = zlib.crc32(f"{len(self._keys)} {kind}".encode()) & 0x7FFFFFFF
        while key in self._keys:
            key = (key + 1) & 0x7FFFFFFF
        self._keys.add(key)
        return key


def in_turn(device: str, done: Iterable[Any]) -> contextlib.AbstractContextManager[Any]:
    """A context of one buffer: after the others on GPUs, where another order might block NCCL.

    Args:
      device: of the buffers.
      done: tensors of the buffers before, in their order.
    """
    last = list(done)[-1:]
    if "GPU" not in device or not last:
        return contextlib.nullcontext()
    context: contextlib.AbstractContextManager[Any] = tf.control_dependencies(last)
    return context


def shaped(gradient: Any, variable: Any) -> Any:
    """The gradient as a tensor with the static shape of its variable."""
    tensor = dense(gradient, variable)
    return tensor if tensor.shape.is_fully_defined() else tf.reshape(tensor, variable.shape)
