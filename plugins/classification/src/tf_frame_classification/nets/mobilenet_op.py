"""The description of a layer in the definition of a MobileNet.

Source of names, arguments and defaults: slim, nets/mobilenet/mobilenet.py.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple

from tf_frame import layers
from tf_frame_classification.nets.channels import make_divisible


class Op(NamedTuple):
    """One layer of a network.

    Attributes:
      op: a function of a tensor and `params`.
      params: its arguments.
      multiplier_func: changes a copy of `params`, in place, for a depth multiplier.
    """

    op: Callable[..., Any]
    params: dict[str, Any]
    multiplier_func: Callable[..., Any]


@layers.add_arg_scope
def depth_multiplier(
    output_params: dict[str, Any],
    multiplier: float,
    divisible_by: int = 8,
    min_depth: int = 8,
    **_: Any,
) -> None:
    """Scales `num_outputs` of a layer.

    Args:
      output_params: arguments of a layer, changed in place.
      multiplier: the factor.
      divisible_by: what the number of channels is rounded to.
      min_depth: the smallest number of channels.
    """
    if "num_outputs" in output_params:
        depth = output_params["num_outputs"] * multiplier
        output_params["num_outputs"] = make_divisible(depth, divisible_by, min_depth)


def op(
    opfunc: Callable[..., Any],
    multiplier_func: Callable[..., Any] = depth_multiplier,
    **params: Any,
) -> Op:
    """Describes one layer; `multiplier_transform` among `params` is its `multiplier_func`."""
    return Op(opfunc, params, params.pop("multiplier_transform", multiplier_func))


def safe_arg_scope(funcs: Any, **kwargs: Any) -> AbstractContextManager[Any]:
    """Is `layers.arg_scope`, in which None means: leave it as it is."""
    given = {name: value for name, value in kwargs.items() if value is not None}
    return layers.arg_scope(funcs, **given) if given else nullcontext()
