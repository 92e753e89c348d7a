"""The same layer several times, and several sizes of a layer in a row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow.compat.v1 as tf


def repeat(
    inputs: Any, repetitions: int, layer: Callable[..., Any], *args: Any, **kwargs: Any
) -> Any:
    """Applies a layer several times, each to what the one before returned.

        net = layers.repeat(net, 2, layers.conv2d, 64, [3, 3], scope="conv1")
        # the same as
        net = layers.conv2d(net, 64, [3, 3], scope="conv1/conv1_1")
        net = layers.conv2d(net, 64, [3, 3], scope="conv1/conv1_2")

    Args:
      inputs: a tensor.
      repetitions: how many times.
      layer: a function of inputs, further arguments and `scope`.
      *args, **kwargs: the further arguments. `scope` names the variable scope and,
        with a number, those of the layers; without it "Repeat" and the function's
        own name.

    Returns:
      What the last one returned.
    """
    return chain(inputs, layer, [args] * repetitions, kwargs, default="Repeat")


def chain(
    inputs: Any,
    layer: Callable[..., Any],
    arguments: list[Any],
    kwargs: dict[str, Any],
    *,
    default: str,
) -> Any:
    """Applies a layer once for each of several lists of arguments.

    Args:
      inputs: a tensor.
      layer: a function of inputs, further arguments and `scope`.
      arguments: the arguments after the inputs, for each application.
      kwargs: arguments by name, the same each time; among them maybe `scope`.
      default: variable scope if there is no `scope`; also what a layer without
        a name is called, in small letters.
    """
    kwargs = dict(kwargs)
    scope = kwargs.pop("scope", None)
    with tf.variable_scope(scope, default, [inputs]):
        outputs = tf.convert_to_tensor(inputs)
        name = _name_of(layer, default.lower()) if scope is None else scope
        for number, of_one in enumerate(arguments, start=1):
            outputs = layer(outputs, *of_one, scope=f"{name}_{number}", **kwargs)
        return outputs


def _name_of(layer: Any, otherwise: str) -> str:
    # What functools.partial makes has no name, but a function.
    function = getattr(layer, "func", layer)
    return str(getattr(layer, "__name__", getattr(function, "__name__", otherwise)))
