"""The optimizer `adadelta` (Zeiler, arXiv:1212.5701)."""

from __future__ import annotations

import dataclasses

from tf_frame.config import option
from tf_frame.optimizers.built_in import BuiltIn


class Adadelta(BuiltIn):
    """Scales the gradient by the root of mean squared steps over mean squared gradients.

    In the paper the learning rate is 1.

    Raises:
      ConfigError: rho is 1, or epsilon is 0; no variable would ever change.
    """

    @dataclasses.dataclass(frozen=True)
    class Params:
        """Options of the optimizer; defaults of TensorFlow."""

        rho: float = option(0.95, "decay of the means of squared gradients and steps", min=0, max=1)
        epsilon: float = option(
            1e-8, "added to both means under the root, above 0; slim: 1, Zeiler: 1e-6", min=0
        )

    made = "AdadeltaOptimizer"
    below_one = ("rho",)
    above_zero = ("epsilon",)
