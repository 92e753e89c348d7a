"""Synchronised batch norm: statistics over the batches of all clones (copies of the model).

    net = layers.batch_norm(net, is_training=True, sync=True)

Statistics of the few images on one device are noisy. With the statistics of all clones a training
step is equal to a step of one clone with the whole batch. The layers of each clone read statistics
and gradients through identity operations; this module replaces the inputs of these operations by
the values of all clones together.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.deploy.clones import Clone
from tf_frame.errors import TfFrameError
from tf_frame.graph.graph_edits import set_input
from tf_frame.layers.moments import TO_SHARE, combined_moments

_SHARED = "tf_frame/shared"


def share_statistics(clones: Sequence[Clone]) -> None:
    """Connects the layers with `sync=True` of all clones in the default graph.

    Call it after the gradients of all clones were made, and before a session runs. A second call
    connects layers that were added since.

    Args:
      clones: the clones of a training graph; a single one needs no connection.

    Raises:
      TfFrameError: the clones differ in their layers or gradients.
    """
    if len(clones) < 2:
        return
    entries = tf.get_collection(TO_SHARE)
    pairs = list(zip(entries[::2], entries[1::2], strict=True))
    forward = [
        [slot for origin, slot in pairs if origin is slot and slot.name.startswith(clone.scope)]
        for clone in clones
    ]
    backward = [
        [
            [slot for origin, slot in pairs if origin is layer and slot is not layer]
            for layer in slots
        ]
        for slots in forward
    ]
    with tf.device(clones[0].device), tf.name_scope("shared_statistics"):
        for layers in _transposed(forward, "layers"):
            _connect(layers, combined_moments)
        for gradients in _transposed(backward, "layers"):
            for slots in _transposed(gradients, "gradients of a layer"):
                _connect(slots, tf.add_n)


def _transposed(clone_lists: Sequence[Sequence[Any]], noun: str) -> list[tuple[Any, ...]]:
    """Transposes the lists of the clones: the first tensor of each clone, the second ..."""
    counts = [len(clone_list) for clone_list in clone_lists]
    if len(set(counts)) > 1:
        raise TfFrameError(
            f"clones that share the statistics of batch norm must all have the same {noun}; they "
            f"have {counts} of them: build every clone alike, or without sync=True"
        )
    return list(zip(*clone_lists, strict=True))


def _connect(slots: Sequence[Any], combine: Any) -> None:
    connected = tf.get_collection(_SHARED)
    if any(slot is other for slot in slots for other in connected):
        return
    combined = combine([slot.op.inputs[0] for slot in slots])
    for slot in slots:
        set_input(slot.op, 0, combined)
        tf.add_to_collection(_SHARED, slot)
