"""The optimizer `rmsprop` (Tieleman and Hinton, Coursera lecture 6.5, 2012)."""

from __future__ import annotations

import dataclasses

from tf_frame.config import option
from tf_frame.optimizers.built_in import BuiltIn


class RMSProp(BuiltIn):
    """Divides the gradient by the root of a moving mean of squared gradients.

    Raises:
      ConfigError: decay is 1.
    """

    @dataclasses.dataclass(frozen=True)
    class Params:
        """Options of the optimizer.

        The defaults are those of slim's image classifier and of the Inception
        trainer (research/slim/train_image_classifier.py and
        research/inception/inception_distributed_train.py). An epsilon of 1 is
        large: steps stay small where gradients are small. TensorFlow's default, which
        object_detection uses, is 1e-10 without momentum.
        """

        decay: float = option(0.9, "decay of the mean of squared gradients", min=0, max=1)
        momentum: float = option(0.9, "share of the previous step that is added", min=0, max=1)
        epsilon: float = option(
            1.0, "added to the mean square under the root; TensorFlow: 1e-10", min=0
        )
        centered: bool = option(
            False, "divide by the estimated variance instead of the mean square"
        )

    made = "RMSPropOptimizer"
    below_one = ("decay",)
