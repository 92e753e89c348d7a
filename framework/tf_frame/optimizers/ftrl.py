"""The optimizer `ftrl` (McMahan et al., Ad Click Prediction, KDD 2013)."""

from __future__ import annotations

import dataclasses

from tf_frame.config import option
from tf_frame.optimizers.built_in import BuiltIn


class Ftrl(BuiltIn):
    """Follow the regularised leader, with L1 and L2 penalties in closed form."""

    @dataclasses.dataclass(frozen=True)
    class Params:
        """Options of the optimizer; defaults of TensorFlow and slim."""

        learning_rate_power: float = option(
            -0.5, "power of the sum of squared gradients in the learning rate; 0: fixed", max=0
        )
        initial_accumulator_value: float = option(
            0.1, "first value of the sum of squared gradients", min=0
        )
        l1_regularization_strength: float = option(0.0, "weight of the L1 penalty", min=0)
        l2_regularization_strength: float = option(0.0, "weight of the L2 penalty", min=0)

    made = "FtrlOptimizer"
