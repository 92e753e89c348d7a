"""The gradient transform `freeze`: excludes variables from training.

--warm_start_from runs/first/model.ckpt-500 --transform freeze:'MobilenetV2/.*'

For fine-tuning: the head is trained while a pretrained backbone keeps its values, and frozen
variables need no memory for slots of the optimizer.
"""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Mapping
from typing import Any, ClassVar

from tf_frame import GradientTransform, option
from tf_frame.errors import ConfigError
from tf_frame.gradient_transforms.patterns import compile_patterns, matches_any, warn_unmatched
from tf_frame.gradient_transforms.values import GradsAndVars

logger = logging.getLogger("tf_frame")


class Freeze(GradientTransform):
    """Removes the pairs of variables with names that match, so they have no slots either.

    The moving statistics of batch normalisation have no gradients and are still updated.
    """

    check_options: ClassVar[Mapping[str, Any]] = {"patterns": (".*/biases",)}
    removes_pairs: ClassVar[bool] = True

    @dataclasses.dataclass(frozen=True)
    class Params:
        """Options of the transform."""

        patterns: tuple[str, ...] = option(
            (),
            "regular expressions; variables whose names match one, from their start, are not "
            "trained; one at a time",
            verbatim=True,
        )

    name: ClassVar[str] = "freeze"

    def __init__(self, *, params: Any) -> None:
        super().__init__(params=params)
        if not params.patterns:
            raise ConfigError(f"{self.name}: no pattern is given; give some like 'MobilenetV2/.*'")
        self._patterns = compile_patterns(self.name, params.patterns)

    def __call__(self, grads_and_vars: GradsAndVars) -> GradsAndVars:
        """Removes the pairs of variables with names that match, and logs each variable.

        The same as `freeze_gradients_matching_regex` of tensorflow/models,
        research/object_detection/utils/variables_helper.py.
        """
        warn_unmatched(self.name, self._patterns, [v.op.name for _, v in grads_and_vars])
        trained_pairs = []
        for gradient, variable in grads_and_vars:
            if matches_any(self._patterns, variable.op.name):
                logger.info("Freezing variable [%s]", variable.op.name)
            else:
                trained_pairs.append((gradient, variable))
        return trained_pairs
