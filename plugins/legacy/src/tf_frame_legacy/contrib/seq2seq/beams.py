"""Beams as tensors: tiled batches, and the paths that a beam search took."""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame_legacy.contrib.seq2seq.shapes import dimension


def tile_batch(t: Any, multiplier: int, name: str | None = None) -> Any:
    """Returns each element of the batch several times: `t[0], t[0], ..., t[1], t[1], ...`.

    Args:
      t: `[batch, ...]`, or a structure of such tensors.
      multiplier: number of times.
      name: name scope.

    Returns:
      `[batch * multiplier, ...]`.

    Raises:
      ValueError: a rank is unknown or 0.
    """
    with tf.name_scope(name, "tile_batch", [*tf.nest.flatten(t), multiplier]):
        return tf.nest.map_structure(lambda tensor: _tile_batch(tensor, multiplier), t)


def _tile_batch(t: Any, multiplier: int) -> Any:
    t = tf.convert_to_tensor(t, name="t")
    if not t.shape.rank:
        raise ValueError("t must have statically known rank of at least 1")
    shape = tf.shape(t)
    tiled = tf.tile(tf.expand_dims(t, 1), [1, multiplier] + [1] * (t.shape.rank - 1))
    tiled = tf.reshape(tiled, tf.concat(([shape[0] * multiplier], shape[1:]), 0))
    batch_size = t.shape.as_list()[0]
    static = None if batch_size is None else batch_size * multiplier
    tiled.set_shape(tf.TensorShape([static]).concatenate(t.shape[1:]))
    return tiled


def gather_tree(
    step_ids: Any,
    parent_ids: Any,
    max_sequence_lengths: Any,
    end_token: Any,
    name: str | None = None,
) -> Any:
    """Returns the tokens of each final beam, followed back from its end.

    The tokens after the first end token, and after the longest sequence, are end tokens.

    Args:
      step_ids: tokens of each step, int32 `[time, batch, beam]`.
      parent_ids: the beam of the step before that each token continues, int32, of that shape.
      max_sequence_lengths: length of the longest beam, int32 `[batch]`.
      end_token: int32 scalar.
      name: name scope.

    Raises:
      InvalidArgumentError: in a session on a CPU, a parent is no beam.
    """
    with tf.name_scope(name, "GatherTree", [step_ids, parent_ids]):
        step_ids = tf.convert_to_tensor(step_ids, tf.int32)
        parent_ids = tf.convert_to_tensor(parent_ids, tf.int32)
        lengths = tf.convert_to_tensor(max_sequence_lengths, tf.int32)
        times = tf.range(tf.shape(step_ids)[0])
        within = times[:, None, None] < tf.zeros_like(step_ids) + lengths[:, None]
        own = tf.zeros_like(step_ids[0]) + tf.range(tf.shape(step_ids)[2])

        def step_back(beams_and_tokens: Any, step: Any) -> tuple[Any, Any]:
            beams, _ = beams_and_tokens
            ids, parents, valid = step
            # An invalid step neither moves the beam nor reads its parent, which may be anything.
            parents = tf.where(valid, parents, own)
            return tf.gather(parents, beams, batch_dims=1), tf.gather(ids, beams, batch_dims=1)

        _, tokens = tf.scan(
            step_back,
            (step_ids, parent_ids, within),
            (own, tf.zeros_like(own)),
            back_prop=False,
            reverse=True,
        )
        ended = tf.cumsum(tf.cast(tf.equal(tokens, end_token), tf.int32), exclusive=True) > 0
        valid = tf.logical_and(within, ~ended)
        tokens = tf.where(valid, tokens, tf.fill(tf.shape(tokens), end_token))
        tokens.set_shape(step_ids.shape)
        return tokens


def gather_tree_from_array(t: Any, parent_ids: Any, sequence_length: Any) -> Any:
    """Returns a stacked TensorArray with its beams ordered as the search took them.

    Args:
      t: `[time, batch, beam, ...]` or `[time, batch * beam, ...]`.
      parent_ids: see `gather_tree`.
      sequence_length: lengths, `[batch, beam]`; later steps stay as they are.
    """
    max_time, batch_size, beam_width = (dimension(parent_ids, axis) for axis in range(3))
    beam_ids = tf.tile(tf.range(beam_width)[None, None], [max_time, batch_size, 1])
    longest = tf.cast(tf.reduce_max(sequence_length, axis=1), tf.int32)
    sorted_ids = gather_tree(beam_ids, parent_ids, longest, end_token=beam_width + 1)
    valid = tf.transpose(tf.sequence_mask(sequence_length, maxlen=max_time), [2, 0, 1])
    sorted_ids = tf.where(valid, sorted_ids, beam_ids)
    by_beam = tf.reshape(t, [max_time, batch_size, beam_width, -1])
    return tf.reshape(tf.gather(by_beam, sorted_ids, batch_dims=2), tf.shape(t))
