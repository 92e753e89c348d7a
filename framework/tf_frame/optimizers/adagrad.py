"""The optimizer `adagrad` (Duchi, Hazan and Singer, JMLR 12, 2011)."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

from tf_frame.config import option
from tf_frame.optimizers.checks import check_positive
from tf_frame.plugin.contracts import Optimizer


@dataclasses.dataclass(frozen=True)
class Params:
    """Options of the optimizer; defaults of TensorFlow and slim."""

    initial_accumulator_value: float = option(
        0.1, "first value of the sum of squared gradients, above 0", min=0
    )


class Adagrad(Optimizer):
    """Divides the gradient by the root of the sum of all squared gradients.

    Raises:
      ConfigError: `initial_accumulator_value` is 0.
    """

    Params: ClassVar[type] = Params

    def __init__(self, *, params: Any) -> None:
        check_positive(params, "initial_accumulator_value")
        super().__init__(params=params)

    def __call__(self, learning_rate: Any) -> Any:
        import tensorflow.compat.v1 as tf

        return tf.train.AdagradOptimizer(learning_rate, **dataclasses.asdict(self.params))
