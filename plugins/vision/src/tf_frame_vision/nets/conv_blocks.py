"""Blocks of MobileNets: inverted residuals, squeeze and excite, and their helpers.

Source: slim, nets/mobilenet/conv_blocks.py. Papers: https://arxiv.org/abs/1801.04381 and
https://arxiv.org/abs/1905.02244.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame import layers

_DEPTHWISE_LOCATIONS = (None, "input", "output", "expansion")


def make_divisible(value: float, divisor: int = 8, min_value: int | None = None) -> int:
    """Rounds a number of channels to a multiple of a divisor, to at least 0.9 of it.

    Args:
      value: the number of channels.
      divisor: the multiple.
      min_value: the smallest result; `divisor` when None.
    """
    smallest = divisor if min_value is None else min_value
    rounded = max(smallest, int(value + divisor / 2) // divisor * divisor)
    return rounded + divisor if rounded < 0.9 * value else rounded


def split_divisible(count: int, num_ways: int, divisible_by: int = 8) -> list[int]:
    """Splits a number of channels into parts as equal as multiples can be.

    Args:
      count: the number of channels.
      num_ways: number of parts.
      divisible_by: each part is a multiple of this.

    Raises:
      ValueError: `count` is no multiple, or too small for so many parts.
    """
    if count % divisible_by or count < num_ways * divisible_by:
        raise ValueError(
            f"{count} channels do not split into {num_ways} multiples of {divisible_by}"
        )
    ends = [
        -(-count * index // (num_ways * divisible_by)) * divisible_by
        for index in range(num_ways + 1)
    ]
    return [end - start for start, end in itertools.pairwise(ends)]


def fixed_padding(inputs: Any, kernel_size: Sequence[int], rate: int = 1) -> Any:
    """Adds zeros for a "VALID" convolution with the output size of a "SAME" one.

    Their number does not depend on the size of the inputs.

    Returns:
      `[batch, height + rate * (kernel_height - 1), width + ..., channels]`.
    """
    totals = [rate * (size - 1) for size in kernel_size]
    edges = [[total // 2, total - total // 2] for total in totals]
    return tf.pad(inputs, [[0, 0], *edges, [0, 0]])


def expand_input_by_factor(n: float, divisible_by: int = 8) -> Callable[..., int]:
    """Makes an `expansion_size` for `expanded_conv`: a multiple of the input's channels.

    Args:
      n: the multiple.
      divisible_by: what the number of channels is rounded to.
    """

    def expanded(num_inputs: int, **_: Any) -> int:
        return make_divisible(num_inputs * n, divisible_by)

    return expanded


@contextmanager
def scope_all(scope: Any, default_name: str | None = None) -> Iterator[Any]:
    """Opens a variable scope together with the name scope that it had first.

    Args:
      scope: its name, or the scope itself to open it once more.
      default_name: made unique where `scope` is None.

    Yields:
      The variable scope.
    """
    with (
        tf.variable_scope(scope, default_name=default_name) as opened,
        tf.name_scope(opened.original_name_scope),
    ):
        yield opened


def split_conv(
    input_tensor: Any,
    num_outputs: int,
    num_ways: int,
    scope: str,
    divisible_by: int = 8,
    **kwargs: Any,
) -> Any:
    """Builds a grouped 1 x 1 convolution: inputs of a group feed the outputs of that group only.

    There is one group only where groups would have less than `divisible_by` channels.

    Args:
      num_ways: number of groups.
      scope: variable scope; the groups' are `SCOPE_part_0` and so on.
      divisible_by: channels in a group are a multiple of this.
      **kwargs: for `layers.conv2d`.

    Returns:
      `[batch, height, width, num_outputs]`.
    """
    channels = input_tensor.shape.as_list()[3]
    if num_ways == 1 or min(channels, num_outputs) // num_ways < divisible_by:
        return layers.conv2d(input_tensor, num_outputs, [1, 1], scope=scope, **kwargs)
    sizes = split_divisible(num_outputs, num_ways, divisible_by)
    parts = tf.split(
        input_tensor,
        split_divisible(channels, num_ways, divisible_by),
        axis=3,
        name=f"split_{scope}",
    )
    outputs = []
    for index, (part, size) in enumerate(zip(parts, sizes, strict=True)):
        name = f"{scope}_part_{index}"
        part = layers.conv2d(part, size, [1, 1], scope=name, **kwargs)
        outputs.append(tf.identity(part, f"{name}_output"))
    return tf.concat(outputs, 3, name=f"{scope}_concat")


@layers.add_arg_scope
def expanded_conv(
    input_tensor: Any,
    num_outputs: int,
    expansion_size: int | Callable[..., int] = expand_input_by_factor(6),  # noqa: B008
    stride: int = 1,
    rate: int = 1,
    kernel_size: Sequence[int] = (3, 3),
    residual: bool | Callable[..., Any] = True,
    normalizer_fn: Callable[..., Any] | None = None,
    project_activation_fn: Callable[..., Any] = tf.identity,
    split_projection: int = 1,
    split_expansion: int = 1,
    split_divisible_by: int = 8,
    expansion_transform: Callable[..., Any] | None = None,
    depthwise_location: str | None = "expansion",
    depthwise_channel_multiplier: int = 1,
    endpoints: dict[str, Any] | None = None,
    use_explicit_padding: bool = False,
    padding: str = "SAME",
    scope: Any = None,
    inner_activation_fn: Callable[..., Any] | None = None,
    expansion_fn: Callable[..., Any] | None = None,
) -> Any:
    """Builds an inverted residual: 1 x 1 expansion, depthwise convolution, 1 x 1 projection.

    Layers: `expand` (only if it adds channels), `depthwise`, `project`.

    Args:
      num_outputs: channels after the projection.
      expansion_size: channels between; a number, or a function of `num_inputs`.
      residual: whether to add the input where shapes allow it; or a function of
        `input_tensor` and `output_tensor`.
      normalizer_fn: of all three layers.
      project_activation_fn: of the projection.
      split_projection: groups that the projection is made of.
      split_expansion: groups that the expansion is made of.
      split_divisible_by: channels in a group are a multiple of this.
      expansion_transform: applied before the projection; a function of
        `expansion_tensor` and `input_tensor`.
      depthwise_location: "expansion", "input", "output" (of the block) or None.
      depthwise_channel_multiplier: outputs per channel of the depthwise layer.
      endpoints: gets `expansion_output`, `depthwise_output`, `projection_output`.
      use_explicit_padding: pad by `fixed_padding` and convolve "VALID".
      padding: of the depthwise convolution otherwise.
      inner_activation_fn: of expansion and depthwise layer; None leaves it to
        the `arg_scope`.
      expansion_fn: builds the expansion of the input, the number of channels, `scope` and
        `normalizer_fn`; None: `split_conv`.

    Returns:
      `[batch, new_height, new_width, num_outputs]`.

    Raises:
      TypeError: `depthwise_location` is none of these, or both kinds of padding
        were asked for.
    """
    _check(depthwise_location, use_explicit_padding, padding)
    inner: dict[str, Any] = {}
    if inner_activation_fn is not None:
        inner["activation_fn"] = inner_activation_fn
    depthwise = partial(
        _depthwise,
        kernel_size=kernel_size,
        depth_multiplier=depthwise_channel_multiplier,
        stride=stride,
        rate=rate,
        normalizer_fn=normalizer_fn,
        padding="VALID" if use_explicit_padding else padding,
        explicit=use_explicit_padding,
    )
    linear: dict[str, Any] = {"activation_fn": project_activation_fn}
    split: dict[str, Any] = {
        "divisible_by": split_divisible_by,
        "normalizer_fn": normalizer_fn,
    }
    with scope_all(scope, "expanded_conv"):
        inputs = net = tf.identity(input_tensor, "input")
        size = _expansion(expansion_size, inputs)
        if depthwise_location == "input":
            net = depthwise(net, activation_fn=None)
        if size > net.shape.as_list()[3]:
            if expansion_fn is None:
                net = split_conv(net, size, split_expansion, "expand", **split, **inner)
            else:
                net = expansion_fn(net, size, scope="expand", normalizer_fn=normalizer_fn, **inner)
            net = tf.identity(net, "expansion_output")
        _note(endpoints, "expansion_output", net)
        if depthwise_location == "expansion":
            net = depthwise(net, **inner)
        net = tf.identity(net, "depthwise_output")
        _note(endpoints, "depthwise_output", net)
        if expansion_transform is not None:
            net = expansion_transform(expansion_tensor=net, input_tensor=inputs)
        net = split_conv(net, num_outputs, split_projection, "project", **split, **linear)
        _note(endpoints, "projection_output", net)
        if depthwise_location == "output":
            net = depthwise(net, activation_fn=None)
        return tf.identity(_with_residual(net, inputs, residual, stride), "output")


def _check(depthwise_location: str | None, explicit: bool, padding: str) -> None:
    if depthwise_location not in _DEPTHWISE_LOCATIONS:
        raise TypeError(
            f"{depthwise_location!r} is unknown value for depthwise_location; "
            f"use one of {_DEPTHWISE_LOCATIONS}"
        )
    if explicit and padding != "SAME":
        raise TypeError(
            f'`use_explicit_padding` should only be used with "SAME" padding, not with {padding!r}.'
        )


def _depthwise(net: Any, *, explicit: bool, **kwargs: Any) -> Any:
    if explicit:
        net = fixed_padding(net, kwargs["kernel_size"], kwargs["rate"])
    return layers.separable_conv2d(net, None, scope="depthwise", **kwargs)


def _expansion(size: int | Callable[..., int], inputs: Any) -> int:
    return size(num_inputs=inputs.shape.as_list()[3]) if callable(size) else size


def _note(endpoints: dict[str, Any] | None, name: str, tensor: Any) -> None:
    if endpoints is not None:
        endpoints[name] = tensor


def _with_residual(net: Any, inputs: Any, residual: Any, stride: int) -> Any:
    if callable(residual):
        return residual(input_tensor=inputs, output_tensor=net)
    same_channels = net.shape.as_list()[3] == inputs.shape.as_list()[3]
    return net + inputs if residual and stride == 1 and same_channels else net


@layers.add_arg_scope
def squeeze_excite(
    input_tensor: Any,
    divisible_by: int = 8,
    squeeze_factor: float = 3,
    inner_activation_fn: Callable[..., Any] | None = tf.nn.relu,
    gating_fn: Callable[..., Any] | None = tf.sigmoid,
    squeeze_input_tensor: Any = None,
) -> Any:
    """Weighs channels by their means over the whole image (https://arxiv.org/abs/1709.01507).

    Layers: `squeeze_excite/Conv` and `squeeze_excite/Conv_1`, both with biases.

    Args:
      divisible_by: what the number of channels between is rounded to.
      squeeze_factor: channels of the input for one between.
      inner_activation_fn: after the first layer.
      gating_fn: after the second one; its result is the weight.
      squeeze_input_tensor: source of the weights; the input when None.

    Returns:
      Like `input_tensor`.
    """
    seen = input_tensor if squeeze_input_tensor is None else squeeze_input_tensor
    channels = input_tensor.shape.as_list()[3]
    layer: Mapping[str, Any] = {"kernel_size": [1, 1], "normalizer_fn": None}
    with tf.variable_scope("squeeze_excite"):
        pooled = tf.reduce_mean(seen, [1, 2], keepdims=True, name="pool")
        between = make_divisible(seen.shape.as_list()[3] / squeeze_factor, divisible_by)
        squeezed = layers.conv2d(pooled, between, activation_fn=inner_activation_fn, **layer)
        weights = layers.conv2d(squeezed, channels, activation_fn=gating_fn, **layer)
        return input_tensor * weights
