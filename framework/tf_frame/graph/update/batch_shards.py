"""Sums over the shards of a batch, in an order that does not depend on the number of workers.

With `--batch_shards S` the batch of all workers consists of S shards. A shard is computed by a
clone (a copy of the model), and each worker has the clones of its shards. Sums of floating-point
numbers depend on the order, so the order is a fixed binary tree over the shards:

    S = 4:  (0 + 1) + (2 + 3)        S = 3:  0 + (1 + 2)

A worker adds up the largest subtrees that lie in its shards. The workers exchange these sums bit by
bit, and each worker adds up the rest of the tree.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.config.run_options import RunOptions
from tf_frame.deploy.deployment_config import DeploymentConfig
from tf_frame.errors import ConfigError
from tf_frame.gradient_transforms.values import GradsAndVars
from tf_frame.graph.update.all_reduce import AllReduceGroup, worker_group
from tf_frame.graph.update.collectives import shaped
from tf_frame.graph.update.sync_replicas import SyncReplicas
from tf_frame.layers.moments import TO_SHARE

# A subtree: its first shard, and the shard behind its last one.
Node = tuple[int, int]
# Types without integers of their size that collectives add: they are exchanged as float32.
_SMALL = (tf.float16, tf.bfloat16)
_BITS = {4: tf.int32, 8: tf.int64}


@dataclasses.dataclass(frozen=True)
class BatchShards:
    """The shards of a batch, from the view of one worker.

    Attributes:
      count: number of shards.
      workers: the shards of each worker.
      own: the shards of this worker.
      group: the workers; None for a single worker.
    """

    count: int
    workers: Sequence[range]
    own: range
    group: AllReduceGroup | None

    def sums(self, tensors_of_shards: Sequence[Sequence[Any]]) -> list[Any]:
        """Adds up tensors over all shards.

        Args:
          tensors_of_shards: tensors of each own shard, equal in number, types and shapes, which are
            known.
        """
        with tf.name_scope("batch_shards"):
            sums = self.own_sums(tensors_of_shards)
            return self.total(self._exchange(self.group, sums) if self.group else sums)

    def own_sums(self, tensors_of_shards: Sequence[Sequence[Any]]) -> dict[Node, list[Any]]:
        """Adds up tensors over the largest subtrees of this worker; see `sums`."""
        leaves = {
            (shard, shard + 1): list(map(_fixed, tensors))
            for shard, tensors in zip(self.own, tensors_of_shards, strict=True)
        }
        return {node: self._add(node, leaves) for node in _nodes(self.own, self.count)}

    def total(self, sums: Mapping[Node, Sequence[Any]]) -> list[Any]:
        """Adds up the sums over the subtrees of all workers."""
        return self._add((0, self.count), {node: list(parts) for node, parts in sums.items()})

    @property
    def nodes(self) -> list[Node]:
        """The largest subtrees of each worker."""
        return [node for shards in self.workers for node in _nodes(shards, self.count)]

    @property
    def sees_all(self) -> bool:
        """True if each worker gets the sums over all shards; false if the chief alone does."""
        return self.group is not None or len(self.workers) == 1

    def _add(self, node: Node, parts: Mapping[Node, list[Any]]) -> list[Any]:
        if node in parts:
            return parts[node]
        lower, upper = (self._add(half, parts) for half in _halves(node))
        return [_fixed(tf.add(one, other)) for one, other in zip(lower, upper, strict=True)]

    def _exchange(
        self, group: AllReduceGroup, own: Mapping[Node, list[Any]]
    ) -> dict[Node, list[Any]]:
        """Returns the sums of the subtrees of all workers."""
        nodes = self.nodes
        like = next(iter(own.values()))
        zeros = [tf.zeros(bits.shape, bits.dtype) for bits in map(_to_bits, like)]
        rows = [list(map(_to_bits, own[node])) if node in own else zeros for node in nodes]
        # Integers keep every bit when zeros are added, also the sign of -0.0.
        stacked = group.sums([tf.stack(column) for column in zip(*rows, strict=True)])
        columns = [tf.unstack(tensor, num=len(nodes)) for tensor in stacked]
        return {
            node: [_from_bits(bits, tensor.dtype) for bits, tensor in zip(row, like, strict=True)]
            for node, row in zip(nodes, zip(*columns, strict=True), strict=True)
        }


def batch_shards(config: RunOptions, deployment: DeploymentConfig) -> BatchShards | None:
    """Returns the shards of `--batch_shards` in the default graph; None without the option."""
    if not config.batch_shards:
        return None
    return BatchShards(
        config.batch_shards,
        [config.input_shards(worker) for worker in range(config.worker_replicas)],
        config.input_shards(config.task),
        worker_group(deployment),
    )


def sum_shards(
    shards: BatchShards, per_clone: Sequence[GradsAndVars], penalty: Any
) -> GradsAndVars:
    """Adds up the gradients of all shards; see `dense_gradients`."""
    variables, gradients = dense_gradients(per_clone, penalty)
    return _all_pairs(per_clone, dict(zip(variables, shards.sums(gradients), strict=True)))


def send_shards(
    shards: BatchShards,
    replicas: SyncReplicas,
    per_clone: Sequence[GradsAndVars],
    penalty: Any,
    *,
    after: Any,
    transform: Callable[[GradsAndVars], GradsAndVars],
    global_step: Any,
) -> tuple[Any, GradsAndVars]:
    """Sends the gradients of the own shards to the chief, which makes the update.

    Args:
      shards: the shards.
      replicas: the optimizer.
      per_clone, penalty: see `dense_gradients`.
      after: tensor that a worker computes before the variables change.
      transform: makes the pairs for the optimizer from the sums over all shards.
      global_step: the variable.

    Returns:
      The operation of this worker, and the sums over its shards, for summaries.
    """
    indices, gradients = dense_gradients(per_clone, penalty)
    own = shards.own_sums(gradients)
    with tf.control_dependencies([after]):
        own = {node: [tf.identity(part) for part in parts] for node, parts in own.items()}

    def combine(parts: Mapping[Node, Sequence[Any]]) -> GradsAndVars:
        sums = dict(zip(indices, shards.total(parts), strict=True))
        changed = transform(_all_pairs(per_clone, sums))
        return [(gradient, variable) for gradient, variable in changed if gradient is not None]

    update = replicas.apply_sums(
        own,
        parts=shards.nodes,
        variables=[per_clone[0][index][1] for index in indices],
        global_step=global_step,
        combine=combine,
    )
    added = [tf.add_n(column) for column in zip(*own.values(), strict=True)]
    return update, _all_pairs(per_clone, dict(zip(indices, added, strict=True)))


def _all_pairs(per_clone: Sequence[GradsAndVars], sums: Mapping[int, Any]) -> GradsAndVars:
    return [(sums.get(index), variable) for index, (_, variable) in enumerate(per_clone[0])]


def dense_gradients(
    per_clone: Sequence[GradsAndVars], penalty: Any
) -> tuple[list[int], list[list[Any]]]:
    """Returns the numbers of the variables with a gradient, and the dense gradients of each shard.

    Args:
      per_clone: gradients of each own shard.
      penalty: the regularisation, which the first shard alone has in its loss; or None. A variable
        that only the regularisation depends on has no gradient in the other shards.

    Raises:
      ConfigError: the shape of a variable is not known.
    """
    variables = [variable for _, variable in per_clone[0]]
    by_penalty = [None] * len(variables) if penalty is None else tf.gradients(penalty, variables)
    used = [
        index
        for index, of_penalty in enumerate(by_penalty)
        if of_penalty is not None or per_clone[-1][index][0] is not None
    ]
    return used, [[_dense(pairs[index]) for index in used] for pairs in per_clone]


def refuse_shared_statistics() -> None:
    """Refuses batch norm with the statistics of all clones, which are those of one worker.

    Raises:
      ConfigError: a layer has it.
    """
    if tf.get_collection(TO_SHARE):
        raise ConfigError(
            "--batch_shards: a layer of batch norm has sync=True, and its statistics would depend "
            "on the number of workers; leave out --batch_shards, or sync=True"
        )


def _nodes(shards: range, count: int) -> list[Node]:
    """Returns the largest subtrees that lie in a range of shards, in order."""

    def inside(node: Node) -> list[Node]:
        first, behind = node
        if shards.start <= first and behind <= shards.stop:
            return [node]
        if behind <= shards.start or shards.stop <= first:
            return []
        return [part for half in _halves(node) for part in inside(half)]

    return inside((0, count))


def _halves(node: Node) -> tuple[Node, Node]:
    first, behind = node
    middle = (first + behind) // 2
    return (first, middle), (middle, behind)


def _fixed(tensor: Any) -> Any:
    """Returns a tensor that TensorFlow's graph optimizer does not combine with a sum behind it.

    It would turn a tree of sums into one sum of many, and take common factors out of a sum.
    """
    return tf.ensure_shape(tensor, tensor.shape)


def _dense(pair: tuple[Any, Any]) -> Any:
    gradient, variable = pair
    if gradient is None:
        return tf.zeros(variable.shape, variable.dtype.base_dtype)
    return shaped(gradient, variable)


def _to_bits(tensor: Any) -> Any:
    wide = tf.cast(tensor, tf.float32) if tensor.dtype in _SMALL else tensor
    return tf.bitcast(wide, _BITS[wide.dtype.size])


def _from_bits(bits: Any, dtype: Any) -> Any:
    wide = tf.bitcast(bits, tf.float32 if dtype in _SMALL else dtype)
    return tf.cast(wide, dtype)
