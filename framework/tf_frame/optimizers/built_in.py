"""The optimizers of `tf.compat.v1.train` as plugins: SGD, momentum, Adam, RMSProp ...

A plugin declares the name and the options of TensorFlow's class. TensorFlow is imported only when a
run makes the optimizer, because quick commands such as `tf-frame plugins show` also load plugins.
"""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

from tf_frame.config import option
from tf_frame.errors import ConfigError
from tf_frame.plugin.training_contracts import Optimizer


class BuiltIn(Optimizer):
    """Base class: an optimizer of `tf.compat.v1.train`; the options are its other arguments.

    Attributes:
      class_name: name of the class in `tf.compat.v1.train`.
      below_one: names of decay rates; with a rate of 1 a moving average would never change.
      above_zero: names of divisors.

    Raises:
      ConfigError: an option has one of these values, which `option` cannot exclude.
    """

    class_name: ClassVar[str]
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

        return getattr(tf.train, self.class_name)(learning_rate, **dataclasses.asdict(self.params))


class SGD(BuiltIn):
    """Stochastic gradient descent: subtracts the gradient times the learning rate."""

    class_name = "GradientDescentOptimizer"


class Momentum(BuiltIn):
    """Momentum, optionally Nesterov's: the learning rate is a factor on the sum of gradients."""

    @dataclasses.dataclass(frozen=True)
    class Params:
        """Options of the optimizer."""

        momentum: float = option(
            0.9, "share of the sum of gradients that a step keeps", min=0, max=1
        )
        use_nesterov: bool = option(False, "use Nesterov momentum")

    class_name = "MomentumOptimizer"


class Adam(BuiltIn):
    """Adam (Kingma and Ba, arXiv:1412.6980); epsilon is `epsilon hat` of section 2."""

    @dataclasses.dataclass(frozen=True)
    class Params:
        """Options of the optimizer."""

        beta1: float = option(0.9, "decay of the mean of gradients", min=0, max=1)
        beta2: float = option(0.999, "decay of the mean of squared gradients", min=0, max=1)
        epsilon: float = option(1e-8, "added to the root in the denominator; slim: 1", min=0)

    class_name = "AdamOptimizer"
    below_one = ("beta1", "beta2")


class RMSProp(BuiltIn):
    """Divides the gradient by the root of a moving mean of squared gradients.

    Tieleman and Hinton, Coursera lecture 6.5, 2012.
    """

    @dataclasses.dataclass(frozen=True)
    class Params:
        """Options of the optimizer.

        Defaults of slim's image classifier and of the Inception trainer
        (research/slim/train_image_classifier.py and
        research/inception/inception_distributed_train.py). An epsilon of 1 is large: steps stay
        small where gradients are small. TensorFlow and object_detection have 1e-10 and no momentum.
        """

        decay: float = option(0.9, "decay of the mean of squared gradients", min=0, max=1)
        momentum: float = option(0.9, "share of the previous step that is added", min=0, max=1)
        epsilon: float = option(
            1.0, "added to the mean square under the root; TensorFlow: 1e-10", min=0
        )
        centered: bool = option(
            False, "divide by the estimated variance instead of the mean square"
        )

    class_name = "RMSPropOptimizer"
    below_one = ("decay",)


class Adagrad(BuiltIn):
    """Divides the gradient by the root of the sum of all squared gradients.

    Duchi, Hazan and Singer, JMLR 12, 2011.
    """

    @dataclasses.dataclass(frozen=True)
    class Params:
        """Options of the optimizer; defaults of TensorFlow and slim."""

        initial_accumulator_value: float = option(
            0.1, "first value of the sum of squared gradients, above 0", min=0
        )

    class_name = "AdagradOptimizer"
    above_zero = ("initial_accumulator_value",)


class Adadelta(BuiltIn):
    """Scales the gradient by the root of mean squared steps over mean squared gradients.

    Zeiler, arXiv:1212.5701; there the learning rate is 1. With a rho of 1 or an epsilon of 0 no
    variable would ever change.
    """

    @dataclasses.dataclass(frozen=True)
    class Params:
        """Options of the optimizer; defaults of TensorFlow."""

        rho: float = option(0.95, "decay of the means of squared gradients and steps", min=0, max=1)
        epsilon: float = option(
            1e-8, "added to both means under the root, above 0; slim: 1, Zeiler: 1e-6", min=0
        )

    class_name = "AdadeltaOptimizer"
    below_one = ("rho",)
    above_zero = ("epsilon",)


class Ftrl(BuiltIn):
    """Follow the regularised leader, with L1 and L2 penalties in closed form.

    McMahan et al., Ad Click Prediction, KDD 2013.
    """

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

    class_name = "FtrlOptimizer"
