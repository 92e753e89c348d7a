"""Options of evaluation and of pictures of detections."""

from __future__ import annotations

import dataclasses

from tf_frame import option


@dataclasses.dataclass(frozen=True)
class EvaluationParams:
    """Options that count in evaluation and prediction, not in training."""

    voc_ap: bool = option(
        False, "evaluate PASCAL VOC's average precision, too: voc_ap, and voc07_ap with 11 points"
    )
    min_drawn_score: float = option(
        0.3, "least score of the detections that pictures show; files have all", min=0, max=1
    )
