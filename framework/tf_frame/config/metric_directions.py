"""Tells from the name of an evaluation metric whether its largest or its smallest value is best.

`--keep_best` and early stopping share these rules, so that the same metric has the same direction
in both.
"""

from __future__ import annotations

import re

from tf_frame.errors import ConfigError
from tf_frame.text import brief

# Words of the names of metrics, as models of this repository, slim and Keras call them.
_RISING = {
    *("accuracy", "acc", "auc", "ap", "dice", "f1", "iou", "jaccard", "map", "miou", "precision"),
    *("psnr", "recall", "sensitivity", "specificity", "ssim"),
}
_FALLING = {"error", "errors", "loss", "losses", "mae", "mape", "mse", "perplexity", "rmse"}


def higher_is_better(metric: str, mode: str | None, option: str) -> bool:
    """Returns whether the largest value of a metric is the best.

    Args:
      metric: its name, such as `mean_iou`; each word of the name counts.
      mode: `max` or `min`, which decides; None: the name decides.
      option: the option that takes the mode, for messages.

    Raises:
      ConfigError: without a mode, for a name with words of neither or of both directions.
    """
    if mode is not None:
        return mode == "max"
    words = set(re.split(r"[^a-z0-9]+", metric.lower()))
    rising, falling = bool(words & _RISING), bool(words & _FALLING)
    if rising == falling:
        raise ConfigError(
            f"the name {brief(metric)} does not say whether its largest or its smallest value is "
            f"the best; correct the name, or give {option} max or {option} min"
        )
    return rising
