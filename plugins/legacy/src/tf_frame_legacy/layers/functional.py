"""Makes functions such as `conv2d` from layer classes such as `Conv2D`."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

_Parameter = inspect.Parameter


def make_function(layer_class: type, name: str, *, shares: bool = True) -> Callable[..., Any]:
    """Returns the function that makes a layer and calls it once.

    Args:
      layer_class: the class; the function has the arguments of its constructor.
      name: name of the function.
      shares: whether the function has the argument `reuse`, and does not make the scope `name`
        unique.
    """
    parameters = [
        parameter
        for parameter in inspect.signature(layer_class).parameters.values()
        if parameter.kind is not _Parameter.VAR_KEYWORD
    ]
    inputs = _Parameter("inputs", _Parameter.POSITIONAL_OR_KEYWORD)
    reuse = _Parameter("reuse", _Parameter.POSITIONAL_OR_KEYWORD, default=None)
    signature = inspect.Signature([inputs, *parameters, *([reuse] if shares else [])])

    def function(*args: Any, **kwargs: Any) -> Any:
        arguments = signature.bind(*args, **kwargs).arguments
        tensors = arguments.pop("inputs")
        if shares:
            arguments["_scope"], arguments["_reuse"] = (
                arguments.get("name"),
                arguments.pop("reuse", None),
            )
        return layer_class(**arguments)(tensors)

    function.__name__ = function.__qualname__ = name
    function.__module__ = layer_class.__module__
    function.__doc__ = f"Applies a new `{layer_class.__name__}` with these arguments to the inputs."
    function.__signature__ = signature  # type: ignore[attr-defined]
    return function
