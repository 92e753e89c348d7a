"""The optimizer `lamb`: AdamW with a step size for each layer, for large batches."""

from __future__ import annotations

import dataclasses
from typing import Any

from tf_frame.config import option
from tf_frame.optimizers.adamw import AdamW
from tf_frame.optimizers.name_patterns import NamePatterns


class Lamb(AdamW):
    """For large batches: the step of a variable is its norm times the learning rate.

    You et al., Large Batch Optimization for Deep Learning, arXiv:1904.00962.

    Raises:
      ConfigError: beta1 or beta2 is 1, or a pattern is not a regular expression.
    """

    @dataclasses.dataclass(frozen=True)
    class Params(AdamW.Params):
        """Options of the optimizer; defaults of the paper's BERT training."""

        weight_decay: float = option(0.01, "share of a variable that is added to the step", min=0)
        epsilon: float = option(1e-6, "added to the root in the denominator", min=0)
        exclude_from_layer_adaptation: tuple[str, ...] | None = option(
            None, "variables whose step is not scaled; none: those of exclude_from_weight_decay"
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
