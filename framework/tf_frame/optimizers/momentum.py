"""The optimizer `momentum`: gradient descent with momentum, optionally Nesterov's."""

from __future__ import annotations

import dataclasses

from tf_frame.config import option
from tf_frame.optimizers.built_in import BuiltIn


class Momentum(BuiltIn):
    """TensorFlow's momentum: the learning rate is a factor on the sum of gradients."""

    @dataclasses.dataclass(frozen=True)
    class Params:
        """Options of the optimizer."""

        momentum: float = option(
            0.9, "share of the sum of gradients that a step keeps", min=0, max=1
        )
        use_nesterov: bool = option(False, "use Nesterov momentum")

    made = "MomentumOptimizer"
