"""AdamW as a `tf.compat.v1.train.Optimizer`; the plugin is in `adamw`."""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.optimizers.moments import MomentsOptimizer
from tf_frame.optimizers.name_patterns import NamePatterns


class AdamWOptimizer(MomentsOptimizer):
    """Algorithm 2 of Loshchilov and Hutter (arXiv:1711.05101).

    The decay is multiplied by the learning rate, as in PyTorch and Keras; in the
    paper it is multiplied by the schedule alone.

    Args:
      weight_decay: factor on the variables.
      excluded: variables without decay.
      name: of the slots and operations.
      **moments: see `MomentsOptimizer`.
    """

    def __init__(
        self, *, weight_decay: float, excluded: NamePatterns, name: str = "AdamW", **moments: Any
    ) -> None:
        super().__init__(name=name, **moments)
        self._weight_decay = weight_decay
        self._excluded = excluded

    def _create_slots(self, var_list: Any) -> None:
        self._excluded.warn_unmatched([variable.op.name for variable in var_list])
        super()._create_slots(var_list)

    def _change(self, direction: Any, variable: Any) -> Any:
        if not self._weight_decay or self._excluded.match(variable.op.name):
            return direction
        return direction + self._weight_decay * tf.convert_to_tensor(variable)
