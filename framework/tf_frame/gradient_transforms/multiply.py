"""The gradient transform `multiply`: factors on the gradients of selected variables.

--transform multiply:'logits/.*=10' --transform multiply:'.*/biases=2'

For fine-tuning: new layers learn faster than pretrained ones. With SGD and momentum a factor acts
as a learning rate of its own; Adam cancels it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, ClassVar

from tf_frame import GradientTransform, option
from tf_frame.config import values
from tf_frame.errors import ConfigError
from tf_frame.gradient_transforms.patterns import compile_patterns, warn_unmatched
from tf_frame.gradient_transforms.values import GradsAndVars, multiplied
from tf_frame.text import brief


class Multiply(GradientTransform):
    """Multiplies gradients by the factors of all patterns that match.

    A variable that several patterns match gets the product of their factors. Biases of
    DeepLab's last layers, for example, get 2 times the multiplier of the last layers
    (`get_model_gradient_multipliers`).
    """

    check_options: ClassVar[Mapping[str, Any]] = {"factors": (".*/biases=2",)}

    @dataclasses.dataclass(frozen=True)
    class Params:
        """Options of the transform."""

        factors: tuple[str, ...] = option(
            (),
            "REGEX=FACTOR: factor on the gradients of variables whose names the regular expression "
            "matches from their start; factors of several matches are multiplied; one at a time",
            verbatim=True,
        )

    name: ClassVar[str] = "multiply"

    def __init__(self, *, params: Any) -> None:
        super().__init__(params=params)
        if not params.factors:
            raise ConfigError(f"{self.name}: no factor is given; give some like '.*/biases=2'")
        pairs = [_parse(item) for item in params.factors]
        self._patterns = compile_patterns(self.name, [pattern for pattern, _ in pairs])
        self._factors = [factor for _, factor in pairs]

    def __call__(self, grads_and_vars: GradsAndVars) -> GradsAndVars:
        names = [variable.op.name for _, variable in grads_and_vars]
        warn_unmatched(self.name, self._patterns, names)
        changed = []
        for gradient, variable in grads_and_vars:
            for pattern, factor in zip(self._patterns, self._factors, strict=True):
                if pattern.match(variable.op.name):
                    gradient = multiplied(gradient, factor)
            changed.append((gradient, variable))
        return changed


def multiply_gradients(
    grads_and_vars: GradsAndVars, gradient_multipliers: Mapping[Any, Any]
) -> GradsAndVars:
    """Multiplies the gradients of some variables.

    Checks and messages are the same as in tf_slim (training/training.py).

    Args:
      grads_and_vars: pairs.
      gradient_multipliers: variable or its op name -> number or scalar tensor. A variable
        takes precedence over its name.

    Raises:
      ValueError: an argument is empty or of the wrong type, or such a variable has no gradient.
    """
    if not isinstance(grads_and_vars, list):
        raise ValueError("`grads_and_vars` must be a list.")
    if not gradient_multipliers:
        raise ValueError("`gradient_multipliers` is empty.")
    if not isinstance(gradient_multipliers, dict):
        raise ValueError("`gradient_multipliers` must be a dict.")
    return [(_by_key(pair, gradient_multipliers), pair[1]) for pair in grads_and_vars]


def _by_key(pair: tuple[Any, Any], multipliers: Mapping[Any, Any]) -> Any:
    gradient, variable = pair
    key = variable if variable in multipliers else variable.op.name
    if key not in multipliers:
        return gradient
    if gradient is None:
        raise ValueError("Requested multiple of `None` gradient.")
    return multiplied(gradient, multipliers[key])


def _parse(item: str) -> tuple[str, float]:
    pattern, equals, factor = item.rpartition("=")
    try:
        if not equals:
            raise ValueError("there is no '='")
        return pattern, values.parse(factor.strip(), float)
    except ValueError as error:
        raise ConfigError(
            f"{Multiply.name}: {brief(item)} is not REGEX=FACTOR, such as '.*/biases=2': {error}"
        ) from None
