"""Heads: the loss of a sequence of features, and the word that is read from it."""

from __future__ import annotations

from typing import Any

from tf_frame_recognition.options import CTC


def make_head(num_classes: int, params: Any) -> Any:
    """Returns the head that the options name.

    Args:
      num_classes: number of characters.
      params: options of the model.
    """
    if params.head == CTC:
        from tf_frame_recognition.heads.ctc import CtcHead

        return CtcHead(
            num_classes, beam_width=params.beam_width, label_smoothing=params.label_smoothing
        )
    from tf_frame_recognition.heads.attention import AttentionHead

    return AttentionHead(
        num_classes,
        units=params.attention_units,
        beam_width=params.beam_width,
        decoders=params.decoders,
        ctc_loss_weight=params.ctc_loss_weight,
        label_smoothing=params.label_smoothing,
    )
