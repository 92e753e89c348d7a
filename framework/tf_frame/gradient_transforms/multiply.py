"""The gradient transform `multiply`: factors on the gradients of selected variables.

--transform multiply:'logits/.*=10' --transform multiply:'.*/biases=2'
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from tf_frame import GradientTransform, option
from tf_frame.config import values
from tf_frame.errors import ConfigError
from tf_frame.gradient_transforms.patterns import compiled, warn_of_unmatched
from tf_frame.gradient_transforms.values import GradsAndVars, multiplied


class Multiply(GradientTransform):
    """Multiplies gradients by the factors of all patterns that match.

    A variable that several patterns match gets the product of their factors. Biases of
    DeepLab's last layers, for example, get 2 times the multiplier of the last layers
    (`get_model_gradient_multipliers`).
    """

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
        self._factors = _parsed(params.factors)

    def __call__(self, grads_and_vars: GradsAndVars) -> GradsAndVars:
        return _with_factors(grads_and_vars, self._factors)


def multiply_gradients_matching(
    grads_and_vars: GradsAndVars, factors: Mapping[str, Any]
) -> GradsAndVars:
    """Multiplies the gradients of variables whose names match.

    Args:
      grads_and_vars: pairs; None gradients are kept.
      factors: regular expression, which must match from the start of a variable's name
        -> number or scalar tensor. The factors of several matches are multiplied.

    Raises:
      ConfigError: a key is not a regular expression.
    """
    return _with_factors(grads_and_vars, list(factors.items()))


def multiply_gradients(
    grads_and_vars: GradsAndVars, gradient_multipliers: Mapping[Any, Any]
) -> GradsAndVars:
    """Multiplies the gradients of given variables.

    Checks and messages are those of `multiply_gradients` in tf_slim
    (training/training.py).

    Args:
      grads_and_vars: pairs.
      gradient_multipliers: variable or its op name -> number or scalar tensor; the
        variable takes precedence over its name.

    Raises:
      ValueError: an argument is empty or of the wrong type, or a given variable has no
        gradient.
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


def _with_factors(grads_and_vars: GradsAndVars, factors: Sequence[tuple[str, Any]]) -> GradsAndVars:
    patterns = compiled(Multiply.name, [pattern for pattern, _ in factors])
    warn_of_unmatched(Multiply.name, patterns, [v.op.name for _, v in grads_and_vars])
    changed = []
    for gradient, variable in grads_and_vars:
        for pattern, (_, factor) in zip(patterns, factors, strict=True):
            if pattern.match(variable.op.name):
                gradient = multiplied(gradient, factor)
        changed.append((gradient, variable))
    return changed


def _parsed(factors: Sequence[str]) -> list[tuple[str, float]]:
    pairs = [_parse(item) for item in factors]
    compiled(Multiply.name, [pattern for pattern, _ in pairs])
    return pairs


def _parse(item: str) -> tuple[str, float]:
    pattern, equals, factor = item.rpartition("=")
    try:
        if not equals:
            raise ValueError("there is no '='")
        return pattern, values.parse(factor.strip(), float)
    except ValueError as error:
        raise ConfigError(
            f"{Multiply.name}: {item!r} is not REGEX=FACTOR, such as '.*/biases=2': {error}"
        ) from None
