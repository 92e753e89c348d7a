"""TensorFlow's collective operations in a graph: the members of a group add up their tensors.

A collective begins once every member runs it, and refuses tensors of different shapes. It costs a
round trip through all workers, and a network has hundreds of small gradients. So tensors are packed
into few flat buffers, and cost one round trip for each buffer.
"""

from __future__ import annotations

import contextlib
import dataclasses
import zlib
from collections.abc import Iterable, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.errors import ConfigError
from tf_frame.gradient_transforms.values import dense

WORKERS, CLONES = 1, 2
# Size of a buffer, measured with two workers on one machine. A larger tensor has its own buffer.
BUFFER_BYTES = 4 << 20


@dataclasses.dataclass
class Collectives:
    """The collectives of a group, and their numbers.

    Attributes:
      size: number of members, in all processes.
      key: number of the group in the cluster.
      timeout_secs: seconds that a collective may wait for other members; 0: for ever. A worker
        may be slow for many reasons, and a lost worker is noticed without a timeout.
      buffer_bytes: size of the buffers.
    """

    size: int
    key: int = dataclasses.field(default=WORKERS, kw_only=True)
    timeout_secs: float = dataclasses.field(default=0.0, kw_only=True)
    buffer_bytes: int = dataclasses.field(default=BUFFER_BYTES, kw_only=True)
    _keys: set[int] = dataclasses.field(default_factory=set, kw_only=True)

    def reduced(
        self, tensors: Sequence[Any], devices: Sequence[str], merge: str = "Add"
    ) -> list[Any]:
        """Combines the tensors of this process's members with the tensors of all other members.

        Args:
          tensors: one of each member in this process, all of one type and shape.
          devices: device of each tensor.
          merge: "Add" or "Max".

        Returns:
          The result, on each of the devices.
        """
        instance = self._instance_key(f"{merge} {tensors[0].dtype.name} {tensors[0].shape}")
        totals = []
        for tensor, device in zip(tensors, devices, strict=True):
            with tf.device(device):
                # Collectives of V2 share one count of steps, so that no two calls of a session may
                # run collectives at the same time.
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

    def sum_members(
        self,
        tensors: Sequence[Sequence[Any]],
        devices: Sequence[str],
        *,
        weight: float = 1.0,
        min_elements: int = 1,
    ) -> list[Any]:
        """Adds up the tensors of all members, packed in buffers.

        Args:
          tensors: tensors of each member in this process, equal in number, types and shapes.
          devices: device of each member in this process.
          weight: factor on every tensor.
          min_elements: smallest size of a buffer.

        Returns:
          The sums, on the first device.
        """
        sums: dict[int, Any] = {}
        for bucket in buckets(tensors[0], self.buffer_bytes):
            packed = []
            with _in_turn(devices[0], sums.values()):
                for member, device in zip(tensors, devices, strict=True):
                    with tf.device(device):
                        buffer = pack([member[i] for i in bucket], min_elements=min_elements)
                        # Before the sum, which might be too large for 16 bits.
                        buffer = buffer if weight == 1 else buffer * tf.cast(weight, buffer.dtype)
                        packed.append(buffer)
                totals = self.reduced(packed, devices)
            # Every member must run, although only the first sum is used.
            with tf.control_dependencies(totals), tf.device(devices[0]):
                parts = unpack(tf.identity(totals[0]), [tensors[0][i] for i in bucket])
            sums.update(zip(bucket, parts, strict=True))
        return [sums[index] for index in range(len(tensors[0]))]

    def _instance_key(self, kind: str) -> int:
        """The number of a collective, which is the same in every worker: they build equal graphs.

        A server remembers the type and the shape of a key, and refuses a different type or shape
        in the next graph of its process. So the key depends on both.
        """
        key = zlib.crc32(f"{len(self._keys)} {kind}".encode()) & 0x7FFFFFFF
        while key in self._keys:
            key = (key + 1) & 0x7FFFFFFF
        self._keys.add(key)
        return key


def _in_turn(device: str, done: Iterable[Any]) -> contextlib.AbstractContextManager[Any]:
    """A context that orders the buffers on GPUs: different orders would block NCCL.

    `done` are tensors of the previous buffers, in order.
    """
    last = list(done)[-1:]
    if "GPU" not in device or not last:
        return contextlib.nullcontext()
    context: contextlib.AbstractContextManager[Any] = tf.control_dependencies(last)
    return context


def shaped(gradient: Any, variable: Any) -> Any:
    """Returns a gradient as a tensor with the static shape of its variable."""
    tensor = dense(gradient, variable)
    return tensor if tensor.shape.is_fully_defined() else tf.reshape(tensor, variable.shape)


def buckets(tensors: Sequence[Any], limit_bytes: int = BUFFER_BYTES) -> list[list[int]]:
    """Divides tensors into groups of one type that fit into a buffer.

    Args:
      tensors: tensors, or variables, of known shapes.
      limit_bytes: size of a buffer.

    Returns:
      Lists of indices into `tensors`, in the order of `tensors`, so that all workers, which build
      the same graph, have the same buffers.

    Raises:
      ConfigError: the shape of a tensor is not known.
    """
    groups: list[list[int]] = []
    open_group: dict[Any, tuple[list[int], int]] = {}
    for index, tensor in enumerate(tensors):
        dtype = tensor.dtype.base_dtype
        size = num_elements(tensor) * dtype.size
        group, used = open_group.get(dtype, ([], 0))
        if not group or used + size > limit_bytes:
            group, used = [], 0
            groups.append(group)
        group.append(index)
        open_group[dtype] = (group, used + size)
    return groups


def num_elements(tensor: Any) -> int:
    """Returns the number of elements of a tensor.

    Raises:
      ConfigError: the number is not known before a run.
    """
    count = tensor.shape.num_elements()
    if count is None:
        raise ConfigError(
            f"{tensor.name} has the shape {tensor.shape}, which is not known before a run; "
            "tensors are packed for all-reduce by their sizes: give the variable a shape"
        )
    return int(count)


def pack(tensors: Sequence[Any], *, min_elements: int = 0) -> Any:
    """Joins tensors of one type to a vector, with zeros at the end up to `min_elements`."""
    parts = [tf.reshape(tensor, [-1]) for tensor in tensors]
    missing = min_elements - sum(num_elements(tensor) for tensor in tensors)
    if missing > 0:
        parts.append(tf.zeros([missing], parts[0].dtype))
    return tf.concat(parts, axis=0) if len(parts) > 1 else parts[0]


def unpack(buffer: Any, like: Sequence[Any]) -> list[Any]:
    """Takes tensors with the shapes of `like` out of a vector of `pack`."""
    sizes = [num_elements(tensor) for tensor in like]
    padding = int(buffer.shape.num_elements()) - sum(sizes)
    parts = tf.split(buffer, [*sizes, padding]) if padding or len(sizes) > 1 else [buffer]
    return [tf.reshape(part, tensor.shape) for part, tensor in zip(parts, like, strict=False)]
