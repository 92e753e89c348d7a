"""The optimizer `momentum`: gradient descent with a decaying sum of gradients."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

from tf_frame.config import option
from tf_frame.plugin.contracts import Optimizer


@dataclasses.dataclass(frozen=True)
class Params:
    """Options of the optimizer."""

    momentum: float = option(0.9, "share of the sum of gradients that a step keeps", min=0, max=1)
    use_nesterov: bool = option(False, "use Nesterov momentum")


class Momentum(Optimizer):
    """TensorFlow's momentum: the learning rate is a factor on the sum of gradients."""

    Params: ClassVar[type] = Params

    def __call__(self, learning_rate: Any) -> Any:
        import tensorflow.compat.v1 as tf

        return tf.train.MomentumOptimizer(
            learning_rate, self.params.momentum, use_nesterov=self.params.use_nesterov
        )
