"""The names of tf.contrib.quantize, over tf-frame's quantisation-aware training.

    from tf_frame_legacy import quantize  # was: tf.contrib.quantize

    quantize.create_training_graph(quant_delay=2000)  # after the model, before any gradient
    quantize.create_eval_graph()                      # after the model, before restoring

They change the graph in place. Its new variables are the ranges, in the collection `quant_vars`;
in training each computation of the model measures them.
"""

from __future__ import annotations

import re
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.graph.quantization import quantize_eval_graph, quantize_training_graph

# ApplyAdam, ResourceApplyMomentum, SparseApplyFtrl ...: the operations of optimizers.
_TRAINING = re.compile("(Resource)?(Sparse)?Apply[A-Z]")


def create_training_graph(input_graph: Any = None, quant_delay: int = 0) -> None:
    """Rounds weights and activations from a step on; see `quantize_training_graph`.

    Args:
      input_graph: the graph; None: the default graph.
      quant_delay: first global step with rounding.

    Raises:
      ValueError: the graph has the operations of an optimizer already.
      ConfigError: there is nothing to quantise, or a delay but no global step.
    """
    experimental_create_training_graph(input_graph, quant_delay=quant_delay)


def create_eval_graph(input_graph: Any = None) -> None:
    """Makes an evaluation graph round as the training did; see `create_training_graph`."""
    experimental_create_eval_graph(input_graph)


def experimental_create_training_graph(
    input_graph: Any = None,
    weight_bits: int = 8,
    activation_bits: int = 8,
    symmetric: bool = False,
    quant_delay: int | None = 0,
    freeze_bn_delay: int | None = None,
    scope: str | None = None,
) -> None:
    """Rounds to another number of bits, or only within a scope.

    Args:
      input_graph, quant_delay: see `create_training_graph`.
      weight_bits, activation_bits: 2 to 16.
      symmetric: False. Weights have a symmetric range always, activations never.
      freeze_bn_delay: None. Batch norm uses the statistics of the batch to the end.
      scope: rewrites only operations with names that begin with `scope`; None: all.

    Raises:
      ValueError: the graph has the operations of an optimizer already, or an argument has a
        value that is not supported.
      ConfigError: another number of bits, nothing to quantise, or a delay but no global step.
    """
    if freeze_bn_delay is not None:
        raise ValueError(
            f"freeze_bn_delay={freeze_bn_delay} is not supported: leave it out; to freeze batch "
            "norm, resume with a model that has is_training=False there"
        )
    graph = _check_graph(input_graph, symmetric)
    quantize_training_graph(
        graph,
        delay_steps=quant_delay or 0,
        weight_bits=weight_bits,
        activation_bits=activation_bits,
        scope=scope,
        # slim's trainer takes UPDATE_OPS before it calls this.
        inline_updates=True,
    )


def experimental_create_eval_graph(
    input_graph: Any = None,
    weight_bits: int = 8,
    activation_bits: int = 8,
    symmetric: bool = False,
    quant_delay: int | None = None,
    scope: str | None = None,
) -> None:
    """Makes an evaluation graph round as the training did.

    See `experimental_create_training_graph` for arguments and errors.
    """
    graph = _check_graph(input_graph, symmetric)
    quantize_eval_graph(
        graph,
        delay_steps=quant_delay or 0,
        weight_bits=weight_bits,
        activation_bits=activation_bits,
        scope=scope,
    )


def _check_graph(graph: Any, symmetric: bool) -> Any:
    graph = tf.get_default_graph() if graph is None else graph
    if symmetric:
        raise ValueError("symmetric=True is not supported: the ranges of activations are measured")
    ops = sorted({op.type for op in graph.get_operations() if _TRAINING.match(op.type)})
    if ops:
        raise ValueError(f"Training op found in graph, exiting {ops}: quantise before gradients")
    return graph
