"""Adds up the gradients of the clones of one process between their devices, by all-reduce.

GPUs use NCCL. The variables are on the CPU: only the sum is copied there, not the gradients of
every clone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.deploy.clones import Clone
from tf_frame.errors import ConfigError
from tf_frame.gradient_transforms.values import GradsAndVars
from tf_frame.graph.update.collectives import (
    CLONES,
    Collectives,
    buckets,
    in_turn,
    pack,
    shaped,
    unpack,
)
from tf_frame.graph.update.gradients import sum_gradients


def sum_by_all_reduce(clones: Sequence[Clone], gradients: Sequence[GradsAndVars]) -> GradsAndVars:
    """Adds the clones' gradients by collectives between their devices.

    Gradients that are sparse, or missing in a clone, are added as by `sum_gradients`, on the device
    of the variables.

    Args:
      clones: the clones, each on its own device.
      gradients: gradients of each clone.

    Raises:
      ConfigError: several clones share a device.
    """
    devices = [clone.device for clone in clones]
    if len(set(devices)) < len(devices):
        raise ConfigError(
            "--gradient_reduction all_reduce is for clones on different devices; they are on "
            f"{', '.join(sorted(set(devices)))}; leave out --clone_on_cpu, or the reduction"
        )
    added = sum_gradients(gradients)
    columns = [[gradient for gradient, _ in pairs] for pairs in zip(*gradients, strict=True)]
    dense = [
        i for i, column in enumerate(columns) if all(isinstance(g, tf.Tensor) for g in column)
    ][::-1]
    per_clone = [[shaped(*pairs[i]) for i in dense] for pairs in gradients]
    group = Collectives(len(clones), key=CLONES)
    with tf.name_scope("all_reduce_clones"):
        sums = dict(zip(dense, sum_members(group, per_clone, devices), strict=True))
    return [(sums.get(i, gradient), variable) for i, (gradient, variable) in enumerate(added)]


def sum_members(
    group: Collectives, tensors: Sequence[Sequence[Any]], devices: Sequence[str]
) -> list[Any]:
    """Adds up the tensors of members that are devices of this process.

    Args:
      group: the members.
      tensors: tensors of each member, equal in number, types and shapes.
      devices: device of each member.

    Returns:
      The sums, on the first device.
    """
    sums: dict[int, Any] = {}
    for bucket in buckets(tensors[0], group.buffer_bytes):
        packed = []
        with in_turn(devices[0], sums.values()):
            for member, device in zip(tensors, devices, strict=True):
                with tf.device(device):
                    packed.append(pack([member[i] for i in bucket], min_elements=1))
            totals = group.reduced(packed, devices)
        # Every member must run, although only the first sum is used.
        with tf.control_dependencies(totals), tf.device(devices[0]):
            parts = unpack(tf.identity(totals[0]), [tensors[0][i] for i in bucket])
        sums.update(zip(bucket, parts, strict=True))
    return [sums[index] for index in range(len(tensors[0]))]
