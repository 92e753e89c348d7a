"""Common parts of the Inception networks: arg scope, poolings, heads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame import layers
from tf_frame.errors import ConfigError


def inception_arg_scope(
    weight_decay: float = 0.00004,
    use_batch_norm: bool = True,
    batch_norm_decay: float = 0.9997,
    batch_norm_epsilon: float = 0.001,
    activation_fn: Any = tf.nn.relu,
    batch_norm_updates_collections: Any = tf.GraphKeys.UPDATE_OPS,
    batch_norm_scale: bool = False,
) -> Any:
    """Returns the arg scope that slim trained its Inception networks in."""
    params = batch_norm_params(
        batch_norm_decay, batch_norm_epsilon, batch_norm_updates_collections, batch_norm_scale
    )
    regularizer = layers.l2_regularizer(weight_decay)
    with (
        layers.arg_scope([layers.conv2d, layers.fully_connected], weights_regularizer=regularizer),
        layers.arg_scope(
            [layers.conv2d],
            weights_initializer=layers.variance_scaling_initializer(),
            activation_fn=activation_fn,
            normalizer_fn=layers.batch_norm if use_batch_norm else None,
            normalizer_params=params if use_batch_norm else {},
        ) as scope,
    ):
        return scope


def batch_norm_params(
    decay: float, epsilon: float, updates_collections: Any, scale: bool
) -> dict[str, Any]:
    """Returns `normalizer_params` for batch norm; see `inception_arg_scope`."""
    return {
        "decay": decay,
        "epsilon": epsilon,
        "updates_collections": updates_collections,
        "fused": None,
        "scale": scale,
    }


def depth_function(depth_multiplier: float, min_depth: int) -> Callable[[int], int]:
    """Returns a function that scales numbers of channels, but never below `min_depth`.

    Raises:
      ValueError: the multiplier is not positive.
    """
    if depth_multiplier <= 0:
        raise ValueError("depth_multiplier is not greater than zero.")
    return lambda depth: max(int(depth * depth_multiplier), min_depth)


def kernel_within(net: Any, kernel_size: Sequence[int]) -> list[int]:
    """Cuts a kernel to the feature map; a map of unknown size is taken to be large enough.

    Args:
      kernel_size: height and width.
    """
    sizes = net.shape.as_list()[1:3]
    if None in sizes:
        return list(kernel_size)
    return [min(pair) for pair in zip(sizes, kernel_size, strict=True)]


def pool_windows(
    net: Any,
    kernel_size: Sequence[int],
    global_pool: bool,
    end_points: dict[str, Any],
    *,
    global_name: str = "global_pool",
) -> Any:
    """Averages windows or the whole feature map; adds the end point `AvgPool_1a` or `global_pool`.

    Args:
      kernel_size: height and width of the windows, cut to the feature map.
      global_pool: whether to take the whole map.
      end_points: gets the result.
      global_name: name of the op that takes the whole map.

    Returns:
      `[batch, 1, 1, channels]`; more positions for maps larger than the windows.
    """
    if global_pool:
        net = tf.reduce_mean(net, [1, 2], keepdims=True, name=global_name)
        end_points["global_pool"] = net
        return net
    height, width = kernel_within(net, kernel_size)
    scope = f"AvgPool_1a_{height}x{width}"
    net = layers.avg_pool2d(net, [height, width], padding="VALID", scope=scope)
    end_points["AvgPool_1a"] = net
    return net


def pool_whole_map(net: Any, scope: str) -> Any:
    """Averages all positions: `[batch, 1, 1, channels]`.

    Args:
      scope: name of the pooling where the size of the map is known.
    """
    sizes = net.shape[1:3]
    if sizes.is_fully_defined():
        return layers.avg_pool2d(net, sizes.as_list(), padding="VALID", scope=scope)
    return tf.reduce_mean(net, [1, 2], keepdims=True, name="global_pool")


def conv_logits(
    net: Any, num_classes: int, spatial_squeeze: bool, *, scope: str, **options: Any
) -> Any:
    """Makes logits of features by a convolution of 1 x 1.

    Args:
      net: `[batch, 1, 1, channels]`.
      spatial_squeeze: whether to take the height and width of 1 away.
      options: further arguments of the convolution.

    Returns:
      `[batch, classes]`, or `[batch, 1, 1, classes]` unsqueezed.

    Raises:
      ConfigError: the map is larger than 1 x 1 and was to be squeezed.
    """
    logits = layers.conv2d(
        net, num_classes, [1, 1], activation_fn=None, normalizer_fn=None, scope=scope, **options
    )
    return _squeeze_map(logits) if spatial_squeeze else logits


def dense_aux_logits(
    net: Any, num_classes: int, *, pool_scope: str, conv_scope: str, logits_scope: str
) -> Any:
    """Builds the auxiliary logits `[batch, classes]` of Inception v4 and Inception-ResNet v2.

    Where the map is smaller than the 5 x 5 window, the window is cut to the map;
    slim fails there.

    Args:
      net: `[batch, height, width, channels]`; height and width must be known.
      pool_scope, conv_scope, logits_scope: slim's names for the layers.

    Raises:
      ConfigError: height or width is unknown.
    """
    if not net.shape[1:3].is_fully_defined():
        raise ConfigError(
            "the auxiliary logits need images of known height and width, for one of their kernels "
            f"is as large as the map {net.op.name}, which is {net.shape}; set the shape of the "
            "images or create_aux_logits=False"
        )
    kernel = kernel_within(net, [5, 5])
    net = layers.avg_pool2d(net, kernel, stride=3, padding="VALID", scope=pool_scope)
    net = layers.conv2d(net, 128, [1, 1], scope="Conv2d_1b_1x1")
    whole_map = net.shape.as_list()[1:3]
    net = layers.conv2d(net, 768, whole_map, padding="VALID", scope=conv_scope)
    return layers.fully_connected(
        layers.flatten(net), num_classes, activation_fn=None, scope=logits_scope
    )


def _squeeze_map(logits: Any) -> Any:
    height, width = logits.shape.as_list()[1:3]
    if not {height, width} <= {1, None}:
        raise ConfigError(
            f"the logits {logits.op.name} are a map of {height} x {width} for images as large as "
            "these, and cannot become a row for each; choose spatial_squeeze=False, smaller "
            "images, or global_pool=True (of auxiliary logits: create_aux_logits=False)"
        )
    return tf.squeeze(logits, [1, 2], name="SpatialSqueeze")
