"""The gradient transform `scale_biases`: a factor on the gradients of biases.

--transform scale_biases:2

Biases learn faster than weights then, as with `bias_grad_multiplier` of object_detection.
"""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

from tf_frame import GradientTransform, option
from tf_frame.gradient_transforms.patterns import (
    compile_patterns,
    matches_any,
    unmatched,
    warn_unmatched,
)
from tf_frame.gradient_transforms.values import GradsAndVars, multiplied

# From `bias_grad_multiplier` of tensorflow/models, research/object_detection/legacy/trainer.py,
# but with `$`: there, `biased/weights` counts as a bias.
BIASES = (r".*bias(?:es)?$", r".*beta$")


class ScaleBiases(GradientTransform):
    """Multiplies the gradients of biases."""

    @dataclasses.dataclass(frozen=True)
    class Params:
        """Options of the transform."""

        factor: float = option(2.0, "factor on the gradients of biases", min=0)
        patterns: tuple[str, ...] = option(
            BIASES,
            "regular expressions for the names of biases, from their start; one at a time",
            verbatim=True,
        )

    name: ClassVar[str] = "scale_biases"

    def __init__(self, *, params: Any) -> None:
        super().__init__(params=params)
        self._patterns = compile_patterns(self.name, params.patterns)

    def __call__(self, grads_and_vars: GradsAndVars) -> GradsAndVars:
        """Multiplies the gradients of variables that at least one pattern matches.

        Warns of each pattern that matches no variable; of the default patterns only if none
        matches.
        """
        patterns, names = self._patterns, [variable.op.name for _, variable in grads_and_vars]
        if tuple(self.params.patterns) != BIASES or len(unmatched(patterns, names)) == len(BIASES):
            warn_unmatched(self.name, patterns, names)
        factor = self.params.factor
        return [
            (multiplied(gradient, factor) if matches_any(patterns, name) else gradient, variable)
            for (gradient, variable), name in zip(grads_and_vars, names, strict=True)
        ]
