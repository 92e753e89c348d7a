"""Inserts fake quantisation at the layers of a training or evaluation graph.

Models need no code for quantisation: the graph is changed after it is built. Both graphs have the
same variables, so that evaluation measures the network with the rounding of its training.
"""

from __future__ import annotations

import collections
import dataclasses
import logging
from collections.abc import Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.errors import ConfigError
from tf_frame.graph.graph_edits import redirect, set_input
from tf_frame.graph.quantization.fake_quant import FakeQuant, kept_share
from tf_frame.graph.quantization.find_layers import (
    Layer,
    find_consumers,
    find_layers,
    find_sums,
    fold_factor,
)

_LOG = logging.getLogger("tf_frame")


@dataclasses.dataclass(frozen=True)
class Quantized:
    """The result of a rewrite.

    Attributes:
      weights: names of the layers with rounded weights.
      activations: names of the rounded tensors.
      folded: names of the layers with weights that are rounded together with batch norm.
      not_folded: names of the layers with a batch norm, but without a known moving variance.
    """

    weights: Sequence[str]
    activations: Sequence[str]
    folded: Sequence[str]
    not_folded: Sequence[str]


def quantize_training_graph(
    graph: Any = None,
    *,
    delay_steps: int,
    weight_bits: int = 8,
    activation_bits: int = 8,
    scope: str | None = None,
    inline_updates: bool = False,
) -> Quantized:
    """Rounds weights and activations from a step on, and measures their ranges before.

    Of each Conv2D, DepthwiseConv2dNative and MatMul with a variable as weights, these are
    rounded: the weights, multiplied by the factor of a fused batch norm that follows; the
    output after biases, batch norm and Relu or Relu6; sums of such outputs. The rest of the
    graph reads the rounded tensors. A Python reference to an output that was taken before,
    such as the logits, still gives the tensor without rounding.

    Call it when the forward graph is complete and before any gradient. Ops in `UPDATE_OPS`
    update the ranges.

    Args:
      graph: the graph; None: the default graph.
      delay_steps: global step when rounding begins; before, the graph computes as without the
        rewrite. 0: at once.
      weight_bits, activation_bits: bits of the simulated integers, 2 to 16.
      scope: prefix of the names of the operations to rewrite; None: all.
      inline_updates: whether each computation of a rounded tensor updates its range, as with
        tf.contrib.quantize, instead of the ops in `UPDATE_OPS`.

    Raises:
      ConfigError: another number of bits, no global step, or nothing to quantise.
    """
    return _quantize(
        graph,
        delay_steps=delay_steps,
        scope=scope,
        training=True,
        weight_bits=weight_bits,
        activation_bits=activation_bits,
        inline=inline_updates,
    )


def quantize_eval_graph(
    graph: Any = None, *, delay_steps: int, scope: str | None = None, **bits: int
) -> Quantized:
    """Makes an evaluation graph compute as the training graph does at its global step.

    The variables have the names of the training graph, so that its checkpoints, which hold the
    ranges, fit. Arguments, with `weight_bits` and `activation_bits`, and errors as of
    `quantize_training_graph`.
    """
    return _quantize(graph, delay_steps=delay_steps, scope=scope, training=False, **bits)


def _quantize(
    graph: Any, *, delay_steps: int, scope: str | None, training: bool, **settings: Any
) -> Quantized:
    """Rewrites a graph; `settings` are further attributes of `FakeQuant`."""
    graph = graph or tf.get_default_graph()
    ops = [op for op in graph.get_operations() if op.name.startswith(scope or "")]
    layers = _outside_loops(graph, find_layers(ops))
    if not layers:
        where = f"the scope {scope!r}" if scope else "the graph"
        raise ConfigError(
            f"there is nothing to quantise: {where} has no Conv2D, DepthwiseConv2dNative or "
            "MatMul of float32 weights that are a variable; leave out --quantize_delay_step, or "
            "build the model first"
        )
    with graph.as_default():
        keep = kept_share(inline=settings["inline"]) if training else None
        fake_quant = FakeQuant(active=_active(delay_steps), keep=keep, **settings)
        return _rewrite(ops, layers, fake_quant)


def _rewrite(ops: Sequence[Any], layers: Sequence[Layer], fake_quant: FakeQuant) -> Quantized:
    names: collections.Counter[str] = collections.Counter()
    points = [("act_quant", layer.name, layer.output) for layer in layers]
    points += [("add_quant", *pair) for pair in find_sums(ops, layers)]
    folded = [_round_weights(layer, names, fake_quant) for layer in layers]
    for kind, name, tensor in points:
        consumers = find_consumers(tensor)
        with tf.device(tensor.op.device):
            rounded = fake_quant.activations(tensor, _unique(f"{name}/{kind}", names))
        redirect(consumers, tensor, rounded)
    quantized = Quantized(
        weights=[layer.name for layer in layers],
        activations=[tensor.op.name for _, _, tensor in points],
        folded=[layer.name for layer, fold in zip(layers, folded, strict=True) if fold],
        not_folded=[
            layer.name
            for layer, fold in zip(layers, folded, strict=True)
            if layer.batch_norm is not None and not fold
        ],
    )
    _log(quantized)
    return quantized


def _round_weights(layer: Layer, names: collections.Counter[str], fake_quant: FakeQuant) -> bool:
    """Rounds the weights of a layer; returns whether batch norm is folded in."""
    name = _unique(f"{layer.name}/weights_quant", names)
    with tf.device(layer.op.device), tf.name_scope(f"{name}/"):
        factor = fold_factor(layer)
        if factor is None:
            rounded = fake_quant.weights(layer.weights, name)
        else:
            rounded = fake_quant.weights(layer.weights * factor, name) / factor
    set_input(layer.op, layer.weights_index, rounded)
    return factor is not None


def _active(delay_steps: int) -> Any:
    if delay_steps <= 0:
        return None
    step = tf.train.get_global_step()
    if step is None:
        raise ConfigError(
            f"quantisation from step {delay_steps} on needs a global step, but the graph has "
            "none; tf.train.create_global_step() makes one"
        )
    return tf.greater_equal(step, tf.cast(delay_steps, step.dtype.base_dtype), "quantize_now")


def _unique(name: str, names: collections.Counter[str]) -> str:
    """A unique name for a range, the same in every graph of a model."""
    names[name] += 1
    return f"{name}_{names[name] - 1}" if names[name] > 1 else name


def _outside_loops(graph: Any, layers: Sequence[Layer]) -> list[Layer]:
    """The layers outside of loops and branches: edges inside must not be moved."""
    inside = [layer.name for layer in layers if not graph.is_fetchable(layer.op)]
    if inside:
        _LOG.warning("not quantised, because they are in a loop or a branch: %s", ", ".join(inside))
    return [layer for layer in layers if graph.is_fetchable(layer.op)]


def _log(quantized: Quantized) -> None:
    _LOG.info(
        "quantised: the weights of %d layers, %d of them with batch norm folded in, and %d "
        "activations",
        len(quantized.weights),
        len(quantized.folded),
        len(quantized.activations),
    )
    if quantized.not_folded:
        _LOG.warning(
            "batch norm is not folded into the weights, its moving variance was not found: %s",
            ", ".join(quantized.not_folded),
        )
