"""The optimizers `adamw`, Adam with decoupled weight decay, and `lamb`, for large batches.

Adam also divides the gradient of an L2 penalty by the root of the squared gradients, so weights
with large gradients hardly decay. With AdamW all weights decay at one rate.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from tf_frame.config import option
from tf_frame.optimizers.built_in import BuiltIn
from tf_frame.optimizers.name_patterns import NOT_WEIGHTS, NamePatterns


class AdamW(BuiltIn):
    """Adam that applies weight decay to the variables directly, not through the gradients.

    Loshchilov and Hutter, Decoupled Weight Decay Regularization, arXiv:1711.05101.

    Raises:
      ConfigError: beta1 or beta2 is 1, or a pattern is not a regular expression.
    """

    @dataclasses.dataclass(frozen=True)
    class Params:
        """Options of the optimizer; defaults of PyTorch."""

        weight_decay: float = option(
            0.01, "share of a variable that a step subtracts, times the learning rate", min=0
        )
        exclude_from_weight_decay: tuple[str, ...] = option(
            NOT_WEIGHTS, "variables without decay: regular expressions found in their names"
        )
        beta1: float = option(0.9, "decay of the mean of gradients", min=0, max=1)
        beta2: float = option(0.999, "decay of the mean of squared gradients", min=0, max=1)
        epsilon: float = option(1e-8, "added to the root in the denominator", min=0)

    below_one = ("beta1", "beta2")

    def __init__(self, *, params: Any) -> None:
        self._excluded = NamePatterns(
            params.exclude_from_weight_decay, option="optimizer.exclude_from_weight_decay"
        )
        super().__init__(params=params)

    def __call__(self, learning_rate: Any) -> Any:
        from tf_frame.optimizers.moments import AdamWOptimizer

        return AdamWOptimizer(
            learning_rate=learning_rate, params=self.params, excluded=self._excluded
        )


class Lamb(AdamW):
    """AdamW with steps in proportion to the norm of a variable, for large batches.

    You et al., Large Batch Optimization for Deep Learning, arXiv:1904.00962.
    """

    @dataclasses.dataclass(frozen=True)
    class Params(AdamW.Params):
        """Options of the optimizer; defaults of the paper's BERT training."""

        weight_decay: float = option(0.01, "share of a variable that is added to the step", min=0)
        epsilon: float = option(1e-6, "added to the root in the denominator", min=0)
        exclude_from_layer_adaptation: tuple[str, ...] | None = option(
            None, "variables left unscaled; default: those of exclude_from_weight_decay"
        )

    def __init__(self, *, params: Any) -> None:
        super().__init__(params=params)
        self._unscaled = self._excluded
        if params.exclude_from_layer_adaptation is not None:
            self._unscaled = NamePatterns(
                params.exclude_from_layer_adaptation,
                option="optimizer.exclude_from_layer_adaptation",
            )

    def __call__(self, learning_rate: Any) -> Any:
        from tf_frame.optimizers.moments import LambOptimizer

        return LambOptimizer(
            learning_rate=learning_rate,
            params=self.params,
            excluded=self._excluded,
            unscaled=self._unscaled,
        )
