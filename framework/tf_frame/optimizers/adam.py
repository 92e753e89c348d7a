"""The optimizer `adam` (Kingma and Ba, arXiv:1412.6980)."""

from __future__ import annotations

import dataclasses

from tf_frame.config import option
from tf_frame.optimizers.built_in import BuiltIn


class Adam(BuiltIn):
    """TensorFlow's Adam, whose epsilon is the `epsilon hat` of section 2 of the paper.

    Raises:
      ConfigError: beta1 or beta2 is 1.
    """

    @dataclasses.dataclass(frozen=True)
    class Params:
        """Options of the optimizer."""

        beta1: float = option(0.9, "decay of the mean of gradients", min=0, max=1)
        beta2: float = option(0.999, "decay of the mean of squared gradients", min=0, max=1)
        epsilon: float = option(1e-8, "added to the root in the denominator; slim: 1", min=0)

    made = "AdamOptimizer"
    below_one = ("beta1", "beta2")
