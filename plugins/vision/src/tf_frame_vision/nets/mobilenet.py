"""Common part of MobileNets V2 and V3: a network built from a list of ops.

Source: slim, nets/mobilenet/mobilenet.py. The argument `conv_defs` of the networks takes another
list:

    conv_defs = {
        "defaults": {(layers.batch_norm,): {"scale": True}},
        "spec": [op(layers.conv2d, stride=2, num_outputs=32, kernel_size=[3, 3]), ...],
    }
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, ExitStack, nullcontext
from typing import Any, NamedTuple

import tensorflow.compat.v1 as tf

from tf_frame import layers
from tf_frame_vision.nets.conv_blocks import fixed_padding, make_divisible, scope_all
from tf_frame_vision.nets.strides import Strides


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
    """Makes a `layers.arg_scope` without the arguments that are None."""
    arguments = {name: value for name, value in kwargs.items() if value is not None}
    return layers.arg_scope(funcs, **arguments) if arguments else nullcontext()


@layers.add_arg_scope
def mobilenet_base(
    inputs: Any,
    conv_defs: Mapping[str, Any],
    multiplier: float = 1.0,
    final_endpoint: str | None = None,
    output_stride: int | None = None,
    use_explicit_padding: bool = False,
    scope: Any = None,
    is_training: bool | None = False,
) -> tuple[Any, dict[str, Any]]:
    """Builds the layers of `conv_defs["spec"]`, one after the other.

    Args:
      conv_defs: `spec`, a list of `op(...)`; `defaults` and `overrides`, from
        functions to what an `arg_scope` sets for them.
      multiplier: factor on the number of channels of all layers.
      final_endpoint: name of the last layer to build, such as "layer_14".
      output_stride: size of the inputs over size of the outputs, at most; where a
        stride would exceed it, later kernels are dilated instead.
      use_explicit_padding: pad by a number of zeros that does not depend on the
        size of the inputs, and convolve "VALID".
      is_training: whether batch norm takes the statistics of the batch; None
        leaves it to the `arg_scope`.

    Returns:
      The last layer's output, and end points: `layer_1`, `layer_2`, ..., and for
      every op of a layer with a name ending in `output`, `layer_2/depthwise_output`
      and the like. Each `[batch, new_height, new_width, channels]`.

    Raises:
      ValueError: `multiplier` or `output_stride` is not allowed.
    """
    if multiplier <= 0:
        raise ValueError(f"multiplier is not greater than zero: {multiplier}")
    strides = Strides(_checked_stride(output_stride))
    scopes: dict[str, str] = {}
    end_points: dict[str, Any] = {}
    with ExitStack() as stack:
        stack.enter_context(scope_all(scope, "Mobilenet"))
        stack.enter_context(safe_arg_scope([layers.batch_norm], is_training=is_training))
        _set_defaults(stack, conv_defs, use_explicit_padding)
        before = len(inputs.graph.get_operations())
        net = inputs
        for number, definition in enumerate(conv_defs["spec"], start=1):
            net = _apply(definition, net, multiplier, strides, use_explicit_padding)
            end_points[f"layer_{number}"] = net
            scopes[os.path.dirname(net.name)] = f"layer_{number}"
            if final_endpoint == f"layer_{number}":
                break
        return net, end_points | _outputs(net.graph.get_operations()[before:], scopes)


def _checked_stride(output_stride: int | None) -> int | None:
    if output_stride is not None and (
        output_stride < 1 or (output_stride > 1 and output_stride % 2)
    ):
        raise ValueError(
            f"Output stride must be None, 1 or a multiple of 2. It is {output_stride}."
        )
    return output_stride


def _set_defaults(stack: ExitStack, conv_defs: Mapping[str, Any], explicit: bool) -> None:
    defaults = [*conv_defs.get("defaults", {}).items(), *conv_defs.get("overrides", {}).items()]
    if explicit:
        convolutions = (layers.conv2d, layers.separable_conv2d)
        defaults.append((convolutions, {"padding": "VALID"}))
    for functions, arguments in defaults:
        stack.enter_context(layers.arg_scope(functions, **arguments))


def _apply(definition: Op, net: Any, multiplier: float, strides: Strides, explicit: bool) -> Any:
    params = dict(definition.params)
    definition.multiplier_func(params, multiplier)
    params["stride"], rate = strides.next(params.get("stride", 1))
    if rate > 1 and tuple(params.get("kernel_size", ())) != (1, 1):
        params["rate"] = rate
    if explicit:
        if "use_explicit_padding" in inspect.signature(definition.op).parameters:
            params["use_explicit_padding"] = True
        elif "kernel_size" in params:
            net = fixed_padding(net, params["kernel_size"], rate)
    return definition.op(net, **params)


def _outputs(operations: list[Any], scopes: Mapping[str, str]) -> dict[str, Any]:
    outputs = {}
    for operation in operations:
        scope, name = os.path.split(operation.name)
        if scope in scopes and name.endswith("output"):
            outputs[f"{scopes[scope]}/{name}"] = operation.outputs[0]
    return outputs


@layers.add_arg_scope
def mobilenet(
    inputs: Any,
    num_classes: int | None = 1001,
    prediction_fn: Callable[..., Any] | None = layers.softmax,
    reuse: Any = None,
    scope: Any = "Mobilenet",
    base_only: bool = False,
    use_reduce_mean_for_pooling: bool = False,
    **mobilenet_args: Any,
) -> tuple[Any, dict[str, Any]]:
    """Builds a classifier; in inference mode unless within `training_scope()`.

    Args:
      base_only: whether to end after the last layer of `conv_defs`.
      use_reduce_mean_for_pooling: whether the operation that pools, a mean in any case, has
        the name that slim gave it then.
      **mobilenet_args: for `mobilenet_base`.

    Returns:
      Logits `[batch, num_classes]`, or what they would have been computed of,
      `[batch, 1, 1, channels]`; and end points: those of `mobilenet_base`,
      `global_pool`, `Logits`, `Predictions`.
    """
    if inputs.shape.rank != 4:
        raise ValueError(f"Expected rank 4 input, was: {inputs.shape.rank}")
    with tf.variable_scope(scope, "Mobilenet", reuse=reuse) as opened:
        inputs = tf.identity(inputs, "input")
        net, end_points = mobilenet_base(inputs, scope=opened, **mobilenet_args)
        if base_only:
            return net, end_points
        net = tf.identity(net, name="embedding")
        with tf.variable_scope("Logits"):
            net = end_points["global_pool"] = global_pool(net, use_reduce_mean_for_pooling)
            if not num_classes:
                return net, end_points
            logits = _logits(net, num_classes, mobilenet_args.get("is_training", False))
        end_points["Logits"] = logits
        if prediction_fn is not None:
            end_points["Predictions"] = prediction_fn(logits, "Predictions")
    return logits, end_points


def _logits(net: Any, num_classes: int, is_training: bool | None) -> Any:
    with safe_arg_scope([layers.dropout], is_training=is_training):
        net = layers.dropout(net, scope="Dropout")
    logits = layers.conv2d(
        net,
        num_classes,
        [1, 1],
        activation_fn=None,
        normalizer_fn=None,
        biases_initializer=tf.zeros_initializer(),
        scope="Conv2d_1c_1x1",
    )
    return tf.identity(tf.squeeze(logits, [1, 2]), name="output")


def global_pool(input_tensor: Any, use_reduce_mean_for_pooling: bool = False) -> Any:
    """Averages over height and width, which may be unknown.

    Args:
      use_reduce_mean_for_pooling: see `mobilenet`.

    Returns:
      `[batch, 1, 1, channels]`.
    """
    name = "ReduceMean" if use_reduce_mean_for_pooling else "global_pool"
    return tf.reduce_mean(input_tensor, [1, 2], keepdims=True, name=name)


def training_scope(
    is_training: bool | None = True,
    weight_decay: float = 0.00004,
    stddev: float = 0.09,
    dropout_keep_prob: float | None = 0.8,
    bn_decay: float | None = 0.997,
) -> Any:
    """Makes the `arg_scope` to build a network for training in.

    Args:
      is_training: whether batch norm and dropout are in training mode; None
        leaves it as it is.
      weight_decay: factor of the L2 penalty on the weights of full convolutions;
        depthwise ones have none.
      stddev: of the initial weights, truncated normal; xavier if negative.
      dropout_keep_prob, bn_decay: None leaves the value as it is.
    """
    weights = (
        layers.xavier_initializer()
        if stddev < 0
        else tf.truncated_normal_initializer(stddev=stddev)
    )
    with (
        layers.arg_scope(
            [layers.conv2d, layers.fully_connected, layers.separable_conv2d],
            weights_initializer=weights,
            normalizer_fn=layers.batch_norm,
        ),
        layers.arg_scope([mobilenet_base, mobilenet], is_training=is_training),
        safe_arg_scope([layers.batch_norm], decay=bn_decay, is_training=is_training),
        safe_arg_scope([layers.dropout], is_training=is_training, keep_prob=dropout_keep_prob),
        layers.arg_scope([layers.conv2d], weights_regularizer=layers.l2_regularizer(weight_decay)),
        layers.arg_scope([layers.separable_conv2d], weights_regularizer=None) as scope,
    ):
        return scope
