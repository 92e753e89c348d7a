"""Sequences of layers: the same layer several times, or with different arguments.

Scopes are numbered as in slim (`conv1/conv1_2`), so checkpoints of slim's VGG load.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow.compat.v1 as tf


def repeat(
    inputs: Any, repetitions: int, layer: Callable[..., Any], *args: Any, **kwargs: Any
) -> Any:
    """Applies a layer several times, each time to the previous output; returns the last one.

        net = layers.repeat(net, 2, layers.conv2d, 64, [3, 3], scope="conv1")
        # the same as
        net = layers.conv2d(net, 64, [3, 3], scope="conv1/conv1_1")
        net = layers.conv2d(net, 64, [3, 3], scope="conv1/conv1_2")

    Args:
      inputs: inputs of the first layer, as the layer takes them.
      repetitions: number of layers.
      layer: a function of inputs, further arguments and `scope`.
      args, kwargs: the further arguments. `scope` names the variable scope and, with a
        number, its layers; by default these names are "Repeat" and the function's name.
    """
    return _chain(inputs, layer, [args] * repetitions, kwargs, default="Repeat")


def stack(inputs: Any, layer: Callable[..., Any], stack_args: Any, **kwargs: Any) -> Any:
    """Applies a layer several times, each time with other arguments; returns the last output.

        net = layers.stack(net, layers.fully_connected, [32, 64], scope="fc")
        # the same as
        net = layers.fully_connected(net, 32, scope="fc/fc_1")
        net = layers.fully_connected(net, 64, scope="fc/fc_2")

    Args:
      inputs: inputs of the first layer, as the layer takes them.
      layer: a function of inputs, further arguments and `scope`.
      stack_args: for each application the argument after the inputs, or a list of arguments.
      **kwargs: arguments of all applications; `scope` as in `repeat`, by default "Stack".

    Raises:
      ValueError: `stack_args` is neither a list nor a tuple.
    """
    if not isinstance(stack_args, list | tuple):
        raise ValueError(
            f"stack_args need to be a list or tuple; it is a {type(stack_args).__name__}"
        )
    arguments = [args if isinstance(args, list | tuple) else [args] for args in stack_args]
    return _chain(inputs, layer, arguments, kwargs, default="Stack")


def _chain(
    inputs: Any,
    layer: Callable[..., Any],
    arguments: list[Any],
    kwargs: dict[str, Any],
    *,
    default: str,
) -> Any:
    """Applies a layer once for each list of arguments; `default` names scopes without `scope`."""
    kwargs = dict(kwargs)
    scope = kwargs.pop("scope", None)
    with tf.variable_scope(scope, default, [inputs]):
        outputs = tf.convert_to_tensor(inputs)
        name = _layer_name(layer, default.lower()) if scope is None else scope
        for number, args in enumerate(arguments, start=1):
            outputs = layer(outputs, *args, scope=f"{name}_{number}", **kwargs)
        return outputs


def _layer_name(layer: Any, otherwise: str) -> str:
    # A functools.partial has no name of its own, but the function that it calls has.
    function = getattr(layer, "func", layer)
    return str(getattr(layer, "__name__", getattr(function, "__name__", otherwise)))
