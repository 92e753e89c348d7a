"""Merges the summaries of a training run: losses, learning rate, the model's summaries.

Only the first clone (copy of the model) has summaries, because summaries of other clones would
differ only by their examples. Summary ops are moved to CPUs, because they have no GPU kernels.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.errors import PluginError
from tf_frame.graph.losses import Losses
from tf_frame.text import short_repr


def merge_summaries(
    first_clone_scope: str,
    losses: Losses,
    learning_rate: Any,
    *,
    extra: Iterable[Any] = (),
    with_losses: bool = True,
) -> Any:
    """Merges the summaries of the graph with losses and learning rate.

    Args:
      first_clone_scope: name scope of the first clone with its slash; empty for a single clone.
      losses: result of `gather_losses`.
      learning_rate: scalar.
      extra: further summaries, in `tf.GraphKeys.SUMMARIES` or not; each counts once.
      with_losses: whether the losses are summarised here.

    Returns:
      A scalar string tensor, a serialised `Summary`.
    """
    summaries = [*_model_summaries(first_clone_scope), *extra]
    with tf.device("/device:CPU:0"):
        summaries.append(tf.summary.scalar("optimizer/learning_rate", learning_rate))
        if with_losses:
            summaries += [tf.summary.scalar(name, loss) for name, loss in losses.by_tag().items()]
        return tf.summary.merge(on_cpu(summaries), name="summary_op")


def _model_summaries(first_clone_scope: str) -> list[Any]:
    """The summaries in `tf.GraphKeys.SUMMARIES`, without clones after the first."""
    summaries = tf.get_collection(tf.GraphKeys.SUMMARIES)
    if not first_clone_scope:
        return list(summaries)
    any_clone = re.compile(re.escape(first_clone_scope.removesuffix("0/")) + r"\d+/")
    return [
        summary
        for summary in summaries
        if summary.op.name.startswith(first_clone_scope) or not any_clone.match(summary.op.name)
    ]


def variable_histograms() -> list[Any]:
    """Builds a histogram per model variable, `variables/NAME`, in no collection."""
    model_variables = [*tf.trainable_variables(), *tf.model_variables()]
    variables = list({variable.ref(): variable for variable in model_variables}.values())
    return [
        tf.summary.histogram(f"variables/{variable.op.name}", variable, collections=[])
        for variable in variables
        if variable.dtype.base_dtype.is_floating
    ]


def on_cpu(summaries: Sequence[Any]) -> list[Any]:
    """Returns the same summaries, each once, on CPU:0 of its task.

    Summaries have no kernels for GPUs, and merging a summary of a GPU would need soft placement.
    """
    return [_on_cpu(summary) for summary in {id(s): s for s in summaries}.values()]


def _on_cpu(summary: Any) -> Any:
    if not tf.is_tensor(summary):
        raise PluginError(
            f"the collection tf.GraphKeys.SUMMARIES contains {short_repr(summary)}; it is for the "
            "tensors that tf.compat.v1.summary returns"
        )
    device = tf.DeviceSpec.from_string(summary.device)
    cpu = device.replace(device_type="CPU", device_index=0)
    if device == cpu:
        return summary
    with tf.device(cpu.to_string()):
        return tf.identity(summary)
