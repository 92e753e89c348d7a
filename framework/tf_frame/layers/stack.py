"""Several sizes of a layer in a row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tf_frame.layers.repeat import chain


def stack(inputs: Any, layer: Callable[..., Any], stack_args: Any, **kwargs: Any) -> Any:
    """Applies a layer with other arguments each time.

        net = layers.stack(net, layers.fully_connected, [32, 64], scope="fc")
        # the same as
        net = layers.fully_connected(net, 32, scope="fc/fc_1")
        net = layers.fully_connected(net, 64, scope="fc/fc_2")

    Args:
      inputs: a tensor.
      layer: a function of inputs, further arguments and `scope`.
      stack_args: for each application, the argument after the inputs, or a list
        of them.
      **kwargs: arguments that are the same each time. `scope` names the variable
        scope and, with a number, those of the layers; without it "Stack" and the
        function's own name.

    Returns:
      What the last one returned.

    Raises:
      ValueError: `stack_args` is neither a list nor a tuple.
    """
    if not isinstance(stack_args, list | tuple):
        raise ValueError(
            f"stack_args need to be a list or tuple; it is a {type(stack_args).__name__}"
        )
    arguments = [each if isinstance(each, list | tuple) else [each] for each in stack_args]
    return chain(inputs, layer, arguments, kwargs, default="Stack")
