"""Writers of the tensors of a checkpoint: `GraphWriter` and `ArrayWriter`.

`GraphWriter` saves within the training session, each shard on its own device. `ArrayWriter` saves
copies of the values, so that training can go on meanwhile (`--async_checkpoint`).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

from tf_frame.checkpoint.write.snapshot import Shard


class GraphWriter:
    """Writes the variables from within the training graph, each shard on its own device.

    Args:
      shards: the tensors to write.
    """

    def __init__(self, shards: Sequence[Shard]) -> None:
        with tf.name_scope("save_checkpoint"), tf.device(None):
            self._prefix = tf.placeholder(tf.string, [], name="prefix")
            if len(shards) == 1:
                self._write = _save(shards[0], self._prefix, shards[0].tensors)
            else:
                self._write = self._merged(shards)

    def write(self, session: Any, prefix: str) -> None:
        """Writes a checkpoint to a path prefix, by the training session."""
        session.run(self._write, {self._prefix: prefix})

    def _merged(self, shards: Sequence[Shard]) -> Any:
        parts = [
            tf.strings.join([self._prefix, f"_temp/part-{i:05d}-of-{len(shards):05d}"])
            for i in range(len(shards))
        ]
        written = [
            _save(shard, part, shard.tensors) for shard, part in zip(shards, parts, strict=True)
        ]
        with tf.control_dependencies(written), tf.device(shards[0].device):
            return tf.raw_ops.MergeV2Checkpoints(
                checkpoint_prefixes=tf.stack(parts),
                destination_prefix=self._prefix,
                delete_old_dirs=True,
            )


class ArrayWriter:
    """Writes arrays in a graph and session of its own, so that any thread may use it.

    Args:
      shard: names, slices and types of the arrays.
    """

    def __init__(self, shard: Shard) -> None:
        with tf.Graph().as_default() as graph:
            self._prefix = tf.placeholder(tf.string, [])
            self._tensors = [tf.placeholder(tensor.dtype.base_dtype) for tensor in shard.tensors]
            # The shard's device belongs to the training session.
            self._write = _save(dataclasses.replace(shard, device=""), self._prefix, self._tensors)
        self._session = tf.Session(graph=graph, config=tf.ConfigProto(device_count={"GPU": 0}))

    def write(self, values: Sequence[np.ndarray], prefix: str) -> None:
        """Writes a checkpoint.

        Args:
          values: an array for each tensor of the shard.
          prefix: path prefix of the checkpoint.
        """
        fed = dict(zip(self._tensors, values, strict=True))
        self._session.run(self._write, {self._prefix: prefix, **fed})

    def close(self) -> None:
        """Closes the session."""
        self._session.close()


def _save(shard: Shard, prefix: Any, tensors: Sequence[Any]) -> Any:
    with tf.device(shard.device):
        return tf.raw_ops.SaveV2(
            prefix=prefix,
            tensor_names=list(shard.names),
            shape_and_slices=list(shard.slices),
            tensors=list(tensors),
        )
