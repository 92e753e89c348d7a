"""The optimizer `lamb`: AdamW whose steps follow the size of each layer."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

from tf_frame.config import option
from tf_frame.optimizers.checks import check_below_one
from tf_frame.optimizers.name_patterns import NOT_WEIGHTS, NamePatterns
from tf_frame.plugin.contracts import Optimizer


@dataclasses.dataclass(frozen=True)
class Params:
    """Options of the optimizer; defaults of the paper's BERT training."""

    weight_decay: float = option(0.01, "share of a variable that is added to the step", min=0)
    exclude_from_weight_decay: tuple[str, ...] = option(
        NOT_WEIGHTS, "variables without decay: regular expressions found in their names"
    )
    exclude_from_layer_adaptation: tuple[str, ...] | None = option(
        None, "variables whose step is not scaled; none: those of exclude_from_weight_decay"
    )
    beta1: float = option(0.9, "decay of the mean of gradients", min=0, max=1)
    beta2: float = option(0.999, "decay of the mean of squared gradients", min=0, max=1)
    epsilon: float = option(1e-6, "added to the root that is divided by", min=0)


class Lamb(Optimizer):
    """For large batches: each variable moves by its own norm times the learning rate.

    You et al., Large Batch Optimization for Deep Learning, arXiv:1904.00962.

    Raises:
      ConfigError: beta1 or beta2 is 1, or a pattern is no regular expression.
    """

    Params: ClassVar[type] = Params

    def __init__(self, *, params: Any) -> None:
        check_below_one(params, "beta1", "beta2")
        self._excluded = self._unscaled = NamePatterns(
            params.exclude_from_weight_decay, option="optimizer.exclude_from_weight_decay"
        )
        if params.exclude_from_layer_adaptation is not None:
            self._unscaled = NamePatterns(
                params.exclude_from_layer_adaptation,
                option="optimizer.exclude_from_layer_adaptation",
            )
        super().__init__(params=params)

    def __call__(self, learning_rate: Any) -> Any:
        from tf_frame.optimizers.lamb_update import LambOptimizer

        return LambOptimizer(
            learning_rate=learning_rate,
            weight_decay=self.params.weight_decay,
            excluded=self._excluded,
            unscaled=self._unscaled,
            beta1=self.params.beta1,
            beta2=self.params.beta2,
            epsilon=self.params.epsilon,
        )
