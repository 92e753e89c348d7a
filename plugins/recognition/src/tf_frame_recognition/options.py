"""Options of the model `recognition`: network, head, evaluation."""

from __future__ import annotations

import dataclasses

from tf_frame import option

SMALL, ASTER_RESNET = "small", "aster_resnet"
CTC, ATTENTION = "ctc", "attention"
FORWARD, BOTH = "forward", "both"


@dataclasses.dataclass(frozen=True)
class NetworkParams:
    """Options of the feature extractor."""

    feature_extractor: str = option(
        SMALL,
        "small: four convolutions; aster_resnet: the residual network of ASTER",
        choices=(SMALL, ASTER_RESNET),
    )
    lstm_units: int = option(96, "units of an LSTM for each direction; 256 in ASTER", min=1)
    lstm_layers: int = option(1, "layers of bidirectional LSTMs; 2 in ASTER", min=0)
    weight_decay: float = option(0.0, "scale of the L2 penalty on weights of convolutions", min=0)
    batch_norm_decay: float | None = option(
        None,
        "what batch norm's moving statistics keep per step; none: 0.99, or N / (N + 25) in a run "
        "of N steps if that is less",
        min=0,
        max=1,
    )


@dataclasses.dataclass(frozen=True)
class HeadParams:
    """Options of the head."""

    head: str = option(
        CTC,
        "ctc: a character or a blank for each position; attention: one character after the other",
        choices=(CTC, ATTENTION),
    )
    beam_width: int = option(
        5, "words that the search keeps from step to step; 1: the best of each step alone", min=1
    )
    max_length: int = option(25, "the most characters of a word that is read", min=1)
    label_smoothing: float = option(
        0.1,
        "share of the training loss that draws to equal probabilities of all classes; 0: none, as "
        "in ASTER",
        min=0,
        max=1,
    )
    decoders: str = option(
        BOTH,
        "of attention: forward: from the first character on; both: also one from the last "
        "character back, and the more probable word of the two",
        choices=(FORWARD, BOTH),
    )
    ctc_loss_weight: float = option(
        0.3,
        "of attention: share of a loss by CTC in training; it teaches the features the places of "
        "the characters; 0: none, as in ASTER",
        min=0,
        max=1,
    )
    attention_units: int = option(
        96, "of attention: units of the decoders and of their attention; 256 in ASTER", min=1
    )


@dataclasses.dataclass(frozen=True)
class RectifyParams:
    """Options of the rectification."""

    rectify: bool = option(False, "straighten the image by a thin-plate spline that is learnt")
    control_points: int = option(
        20, "of rectify: control points, half of them along each long side; even", min=4
    )


@dataclasses.dataclass(frozen=True)
class EvaluationParams:
    """Options of the comparison of words in evaluation."""

    eval_case_sensitive: bool = option(True, "whether a and A differ in evaluation")
    eval_punctuation: bool = option(
        True, "whether evaluation compares characters other than letters and digits"
    )
