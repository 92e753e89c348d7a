"""`BuiltIn`: base class of the plugins for optimizers that `tf.compat.v1.train` has.

Such a plugin is a class name and options. TensorFlow is imported only when the optimizer is made,
because `tf-frame plugins show` also loads the plugin, and must be quick.
"""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

from tf_frame.errors import ConfigError
from tf_frame.plugin.training_contracts import Optimizer


class BuiltIn(Optimizer):
    """An optimizer of `tf.compat.v1.train`, whose further arguments are the options.

    Attributes:
      made: name of its class in `tf.compat.v1.train`.
      below_one: names of decay rates; at 1 a moving average would never change.
      above_zero: names of divisors.

    Raises:
      ConfigError: an option is at one of these bounds, which `option` would include.
    """

    made: ClassVar[str]
    below_one: ClassVar[tuple[str, ...]] = ()
    above_zero: ClassVar[tuple[str, ...]] = ()

    def __init__(self, *, params: Any) -> None:
        for name in self.below_one:
            value = getattr(params, name)
            if value >= 1:
                raise ConfigError(f"--optimizer.{name} {value}: must be below 1, such as 0.9")
        for name in self.above_zero:
            value = getattr(params, name)
            if value <= 0:
                raise ConfigError(f"--optimizer.{name} {value}: must be above 0")
        super().__init__(params=params)

    def __call__(self, learning_rate: Any) -> Any:
        import tensorflow.compat.v1 as tf

        return getattr(tf.train, self.made)(learning_rate, **dataclasses.asdict(self.params))
