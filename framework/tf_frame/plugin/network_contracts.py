"""Contracts of the plugins for image networks and for the preprocessing of their images.

A model such as `classification` looks up a network by name; an input looks up a preprocessing by
name. Both are plugins, so any package can add more. This module does not import TensorFlow. The
module of a plugin should not import TensorFlow at the top either.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from tf_frame.errors import ConfigError
from tf_frame.plugin.contracts import Plugin


@dataclasses.dataclass(frozen=True, kw_only=True)
class NetworkContext:
    """Settings of a network.

    Attributes:
      num_classes: number of logits; None or 0: none, the network ends with its features.
      is_training: whether dropout and batch norm train; bool or scalar bool tensor.
      weight_decay: scale of the L2 penalty on weights.
      batch_norm_decay: share that moving statistics keep per step; None: the network's own.
      dropout_keep_prob: probability that dropout keeps a value; None: the network's own.
      depth_multiplier: factor on the number of channels; None: the network's own.
      global_pool: average over all positions before the logits, whatever the image size.
      multi_grid: factors on the dilations of the last three units, as in DeepLab; None: 1.
    """

    num_classes: int | None
    is_training: Any
    weight_decay: float = 0.0
    batch_norm_decay: float | None = None
    dropout_keep_prob: float | None = None
    depth_multiplier: float | None = None
    global_pool: bool = False
    multi_grid: Sequence[int] | None = None


class Network(Plugin):
    """A network from images to logits or, as a backbone, to feature maps.

    Models find it by its name. It has no options of its own.

    Args:
      params: the values of the options, a `Params`.

    Attributes:
      default_image_size: height and width that it was made for, in pixels.
      channels: channels that it was made for; None: any.
      preprocessing: name of the preprocessing that it was trained with.
    """

    default_image_size: ClassVar[int] = 224
    channels: ClassVar[int | None] = 3
    preprocessing: ClassVar[str] = "inception"

    def __call__(self, images: Any, context: NetworkContext) -> tuple[Any, Mapping[str, Any]]:
        """Builds the network in the current graph and variable scope.

        Args:
          images: `[batch, height, width, channels]` float32, preprocessed.
          context: the settings.

        Returns:
          Logits `[batch, num_classes]`, or features without `num_classes`; and the end
          points, name -> tensor. `AuxLogits` among them are trained as well.

        Raises:
          ConfigError: the network does not have the settings.
        """
        raise NotImplementedError(f"{type(self).__name__} does not define __call__()")

    def own_batch_norm_decay(self) -> float | None:
        """Returns the share that moving statistics keep per step by default; None without any.

        For a short run a model lowers this decay.
        """
        return None

    def from_keras(self, values: Mapping[str, Any]) -> Mapping[str, Any]:
        """Returns variables for the values of the network of Keras that computes the same.

        Args:
          values: `layer/weight` -> array, such as `conv1/kernel`, of a file of Keras.

        Returns:
          Name -> array; empty if the values belong to another network.

        Raises:
          DataError: the values belong to a network of Keras that computes something else.
        """
        return {}

    def features(
        self, images: Any, context: NetworkContext, *, output_stride: int = 32
    ) -> tuple[Mapping[int, Any], Mapping[str, Any]]:
        """Builds the network as a backbone, up to its last feature map.

        Variables have the names that they have in the classifier, so that its
        checkpoints can be read.

        Args:
          images: `[batch, height, width, channels]` float32, preprocessed.
          context: as for the classifier; classes, dropout and pooling do not count.
          output_stride: size of the image over size of the last feature map: 8, 16
            or 32. Where a stride would exceed it, later kernels are dilated instead.

        Returns:
          The last feature map of each stride: 2, 4, ..., `output_stride` ->
          `[batch, height / stride, width / stride, channels]`, sizes rounded up
          (some pixels fewer in networks that do not pad); and the end points,
          name -> tensor.

        Raises:
          ConfigError: the network cannot be a backbone, or not with this stride.
        """
        raise ConfigError(
            f"the network {type(self).__name__} has no feature maps by stride; choose one that"
            " can be a backbone"
        )

    def pyramid_features(
        self, images: Any, context: NetworkContext, *, top_stride: int = 32, min_depth: int = 8
    ) -> Mapping[int, Any]:
        """Builds the network as the backbone of a feature pyramid, without dilation.

        A network with published pyramids on other maps than the maps of `features` returns the
        other maps.

        Args:
          images: `[batch, height, width, channels]` float32, preprocessed.
          context: as for `features`.
          top_stride: the largest stride; layers beyond are left out, if the network can do so.
          min_depth: the least number of channels of a layer, if the network has such a setting.

        Returns:
          Stride, from the smallest to `top_stride` -> feature map, as of `features`.

        Raises:
          ConfigError: the network cannot be a backbone.
        """
        del min_depth
        maps, _ = self.features(images, context)
        return {stride: tensor for stride, tensor in maps.items() if stride <= top_stride}

    def decoder_map(
        self, maps: Mapping[int, Any], end_points: Mapping[str, Any], stride: int
    ) -> Any:
        """Returns the feature map of a stride for a decoder: the last map of this stride.

        A network with published decoders on another map returns the other map.

        Args:
          maps, end_points: the results of `features`.
          stride: size of the image over size of the map.

        Returns:
          `[batch, height / stride, width / stride, channels]`, sizes rounded up.

        Raises:
          ConfigError: there is no feature map of the stride.
        """
        del end_points
        if stride not in maps:
            strides = ", ".join(map(str, sorted(maps)))
            raise ConfigError(
                f"the network {type(self).__name__} has no feature map of stride {stride} for a"
                f" decoder; its strides are {strides}"
            )
        return maps[stride]


class Preprocessing(Plugin):
    """Preparation of an image for a network, which inputs find by its name.

    It has no options of its own.

    Args:
      params: the values of the options, a `Params`.

    Attributes:
      values: description of the values that come out, such as `-1 to 1`.
    """

    values: ClassVar[str] = ""

    def image_side(self, size: int) -> int:
        """The side of square images that are only cropped, and not scaled, to a size, in pixels.

        Exports that need images of one size take this.
        """
        return size

    def __call__(self, image: Any, *, height: int, width: int, is_training: bool, seed: Any) -> Any:
        """Resizes an image, augments it for training, and scales its values.

        Args:
          image: `[height, width, channels]` uint8; the sizes may be unknown.
          height, width: of the result, in pixels.
          is_training: whether to change it at random.
          seed: `[2]` integer tensor for stateless random operations; another one for
            each example and each pass over the data.

        Returns:
          `[height, width, channels]` float32.
        """
        raise NotImplementedError(f"{type(self).__name__} does not define __call__()")
