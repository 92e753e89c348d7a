"""The optimizer `adagrad` (Duchi, Hazan and Singer, JMLR 12, 2011)."""

from __future__ import annotations

import dataclasses

from tf_frame.config import option
from tf_frame.optimizers.built_in import BuiltIn


class Adagrad(BuiltIn):
    """Divides the gradient by the root of the sum of all squared gradients.

    Raises:
      ConfigError: `initial_accumulator_value` is 0.
    """

    @dataclasses.dataclass(frozen=True)
    class Params:
        """Options of the optimizer; defaults of TensorFlow and slim."""

        initial_accumulator_value: float = option(
            0.1, "first value of the sum of squared gradients, above 0", min=0
        )

    made = "AdagradOptimizer"
    above_zero = ("initial_accumulator_value",)
