"""Settings that all layers above the backbone share: `conv_hyperparams` of the API.

The API is the object detection API, tensorflow/models, research/object_detection; the values are
those of its samples/configs/ssd_mobilenet_v2_coco.config.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame import layers
from tf_frame.errors import ConfigError

_EPSILON = 0.001


@dataclasses.dataclass(frozen=True, kw_only=True)
class Convolutions:
    """Convolution, batch norm and rectifier up to 6.

    Attributes:
      is_training: whether batch norm takes the statistics of the batch, and keeps them.
      weight_decay: scale of the L2 penalty on weights.
      batch_norm_decay: what moving statistics keep per step.
      stddev: of the initial weights, truncated normal.
    """

    is_training: bool
    weight_decay: float
    batch_norm_decay: float
    stddev: float = 0.03

    def arg_scope(self) -> Any:
        """Makes the defaults of the layers, for `with layers.arg_scope(...)`."""
        with (
            layers.arg_scope(
                [layers.conv2d, layers.separable_conv2d],
                activation_fn=tf.nn.relu6,
                normalizer_fn=layers.batch_norm,
                weights_initializer=tf.truncated_normal_initializer(stddev=self.stddev),
                weights_regularizer=layers.l2_regularizer(self.weight_decay),
            ),
            layers.arg_scope(
                [layers.batch_norm],
                is_training=self.is_training,
                decay=self.batch_norm_decay,
                epsilon=_EPSILON,
                scale=True,
            ) as scope,
        ):
            return scope


def scaled_depth(depth: float, multiplier: float, least: int = 16) -> int:
    """Returns a number of channels times the depth multiplier, as the API rounds it.

    Args:
      depth: channels for a multiplier of 1.
      multiplier: the factor.
      least: the smallest number, `min_depth` of the API's configurations.
    """
    return max(int(depth * multiplier), least)


def sides(features: Any) -> tuple[Any, Any]:
    """Returns height and width of `[batch, height, width, channels]`: integers if known."""
    size = layers.spatial_size(features)
    height, width = size if isinstance(size, list) else tf.unstack(size)
    return height, width


def check_strides(maps: Mapping[int, Any], strides: Iterable[int]) -> None:
    """Checks that a backbone has the feature maps that are needed.

    Args:
      maps: stride -> feature map of the backbone.
      strides: those that are needed.

    Raises:
      ConfigError: the backbone has no map of a stride.
    """
    for stride in strides:
        if stride not in maps:
            raise ConfigError(
                f"--model.backbone has no feature map of stride {stride}, only of"
                f" {', '.join(map(str, sorted(maps)))}; choose other --model.strides or another"
                " backbone"
            )
