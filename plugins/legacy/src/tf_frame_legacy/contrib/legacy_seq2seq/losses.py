"""Losses of lists of logits, and models in buckets of lengths."""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame_legacy.contrib.legacy_seq2seq.decoders import Function


def sequence_loss_by_example(
    logits: list[Any],
    targets: list[Any],
    weights: list[Any],
    average_across_timesteps: bool = True,
    softmax_loss_function: Function | None = None,
    name: str | None = None,
) -> Any:
    """Returns the weighted cross-entropy of each sequence, `[batch]`.

    Args:
      logits: `[batch, classes]` for each step.
      targets: classes int32 `[batch]` for each step.
      weights: `[batch]` for each step.
      average_across_timesteps: whether to divide by the sum of the weights.
      softmax_loss_function: function `(labels, logits)` that returns losses, which is called with
        these keywords; None: softmax cross-entropy.
      name: name scope.

    Raises:
      ValueError: the numbers of steps differ.
    """
    if len(targets) != len(logits) or len(weights) != len(logits):
        raise ValueError(
            "Lengths of logits, weights, and targets must be the same "
            f"{len(logits)}, {len(weights)}, {len(targets)}."
        )
    with tf.name_scope(name, "sequence_loss_by_example", [*logits, *targets, *weights]):
        losses = []
        for logit, target, weight in zip(logits, targets, weights, strict=True):
            if softmax_loss_function is None:
                # Some programs call it with scalars.
                loss = tf.nn.sparse_softmax_cross_entropy_with_logits(
                    labels=tf.reshape(target, [-1]), logits=logit
                )
            else:
                loss = softmax_loss_function(labels=target, logits=logit)
            losses.append(loss * weight)
        total = tf.add_n(losses)
        # The small number avoids a division by zero.
        return total / (tf.add_n(weights) + 1e-12) if average_across_timesteps else total


def sequence_loss(
    logits: list[Any],
    targets: list[Any],
    weights: list[Any],
    average_across_timesteps: bool = True,
    average_across_batch: bool = True,
    softmax_loss_function: Function | None = None,
    name: str | None = None,
) -> Any:
    """Returns the weighted cross-entropy of all sequences, a scalar.

    Args:
      logits, targets, weights, average_across_timesteps, softmax_loss_function: see
        `sequence_loss_by_example`.
      average_across_batch: whether to divide by the batch size.
      name: name scope.

    Raises:
      ValueError: the numbers of steps differ.
    """
    with tf.name_scope(name, "sequence_loss", [*logits, *targets, *weights]):
        cost = tf.reduce_sum(
            sequence_loss_by_example(
                logits, targets, weights, average_across_timesteps, softmax_loss_function
            )
        )
        if not average_across_batch:
            return cost
        return cost / tf.cast(tf.shape(targets[0])[0], cost.dtype)


def model_with_buckets(
    encoder_inputs: list[Any],
    decoder_inputs: list[Any],
    targets: list[Any],
    weights: list[Any],
    buckets: list[tuple[int, int]],
    seq2seq: Function,
    softmax_loss_function: Function | None = None,
    per_example_loss: bool = False,
    name: str | None = None,
) -> tuple[list[Any], list[Any]]:
    """Returns outputs and losses of a model with the same variables for several lengths.

    Args:
      encoder_inputs, decoder_inputs: inputs of each step, for the longest bucket.
      targets: classes int32 `[batch]` of each step.
      weights: `[batch]` for each step.
      buckets: numbers of encoder and decoder steps of each bucket; the last is the longest.
      seq2seq: function `(encoder_inputs, decoder_inputs)` that returns outputs and state.
      softmax_loss_function: see `sequence_loss_by_example`.
      per_example_loss: whether losses are `[batch]` rather than scalars.
      name: name scope.

    Returns:
      The list of outputs and the loss, for each bucket.

    Raises:
      ValueError: there are fewer steps than in the last bucket.
    """
    for what, steps, length in (
        ("encoder_inputs", encoder_inputs, buckets[-1][0]),
        ("targets", targets, buckets[-1][1]),
        ("weights", weights, buckets[-1][1]),
    ):
        if len(steps) < length:
            raise ValueError(
                f"Length of {what} ({len(steps)}) must be at least that of last bucket ({length})."
            )
    loss_function = sequence_loss_by_example if per_example_loss else sequence_loss
    outputs, losses = list[Any](), list[Any]()
    with tf.name_scope(name, "model_with_buckets"):
        for encoder_length, length in buckets:
            with tf.variable_scope(tf.get_variable_scope(), reuse=True if outputs else None):
                bucket_outputs, _ = seq2seq(
                    encoder_inputs[:encoder_length], decoder_inputs[:length]
                )
                outputs.append(bucket_outputs)
                losses.append(
                    loss_function(
                        bucket_outputs,
                        targets[:length],
                        weights[:length],
                        softmax_loss_function=softmax_loss_function,
                    )
                )
    return outputs, losses
