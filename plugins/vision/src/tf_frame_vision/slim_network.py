"""Base class of networks that slim's functions build.

These differ in their arguments, arg scopes and end points; behind the contract `Network` a model
can use any of them as a classifier, and most of them as a backbone.

    class Tiny(SlimNetwork):
        module = function = "tiny"          # tf_frame_vision.nets.tiny.tiny
        arg_scope = "tiny_arg_scope"

None of this imports TensorFlow before a network is built.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import tf_frame
from tf_frame import Network, NetworkContext
from tf_frame.errors import ConfigError
from tf_frame_vision import DISTRIBUTION

_NETS = "tf_frame_vision.nets"
# Squeezing fails on logits of several positions; the error of `flat_logits` says what to do.
_SQUEEZE = "spatial_squeeze"
# An argument of arg scopes, instead of the layers' own.
_ACTIVATION = "activation_fn"


def load_network(name: str) -> Network:
    """Loads a network plugin by name; tf-frame-vision's wins over other packages'.

    Args:
      name: name of a network plugin.

    Raises:
      PluginError: there is no such network; the message has near names.
    """
    return tf_frame.load_network(name, prefer=DISTRIBUTION)


class SlimNetwork(Network):
    """Network that calls one of slim's functions under its arg scope.

    Attributes:
      module: module of `tf_frame_vision.nets`.
      function: name of the function in it that builds the classifier.
      arg_scope: name of the function that makes its arg scope.
      decay_argument: that function's argument for the decay of batch norm; None: it has none.
      dropout_argument: the functions' argument for the share of features that dropout keeps.
      always_pools: whether the classifier averages over all positions in any case.
      base: name of slim's function without a classifier; empty: `function` builds the
        feature maps, too, given `base_arguments`.
      feature_maps: the end point of the last feature map of each stride; none: the network
        cannot be a backbone.
      decoder_maps: the end point that DeepLab's decoder takes at each stride, where it is
        another than the last feature map.
      output_strides: the strides that the last feature map may have.
      pyramid_maps: the end point of each stride that the object detection API's feature pyramids
        take, where it is another than the last feature map.
    """

    module: ClassVar[str]
    function: ClassVar[str]
    arg_scope: ClassVar[str]
    decay_argument: ClassVar[str | None] = None
    dropout_argument: ClassVar[str] = "dropout_keep_prob"
    always_pools: ClassVar[bool] = False
    base: ClassVar[str] = ""
    feature_maps: ClassVar[Mapping[int, str]] = {}
    decoder_maps: ClassVar[Mapping[int, str]] = {}
    output_strides: ClassVar[tuple[int, ...]] = (8, 16, 32)
    pyramid_maps: ClassVar[Mapping[int, str]] = {}

    def __call__(self, images: Any, context: NetworkContext) -> tuple[Any, Mapping[str, Any]]:
        function = self._function(self.function)
        squeeze = _SQUEEZE in inspect.signature(function).parameters
        arguments = {"num_classes": context.num_classes, "is_training": context.is_training}
        overrides = {
            **_layer_overrides(context),
            "dropout_keep_prob": context.dropout_keep_prob,
            "global_pool": (context.global_pool and not self.always_pools) or None,
        }
        if squeeze:
            arguments[_SQUEEZE] = False
        logits, end_points = self._build(function, images, context, arguments, overrides)
        if context.num_classes:
            logits = flat_logits(logits, context.num_classes)
        return logits, end_points

    def features(
        self, images: Any, context: NetworkContext, *, output_stride: int = 32
    ) -> tuple[Mapping[int, Any], Mapping[str, Any]]:
        if not self.feature_maps:
            return super().features(images, context, output_stride=output_stride)
        if output_stride not in self.output_strides:
            strides = " or ".join(map(str, self.output_strides))
            raise ConfigError(
                f"the network {self.function} has no feature maps with an output stride of"
                f" {output_stride}; its output stride can be {strides}"
            )
        last, end_points = self._backbone(images, context, self.base_arguments(output_stride))
        maps = {
            stride: _find(end_points, name)
            for stride, name in self.feature_maps.items()
            if stride < output_stride
        }
        return {**maps, output_stride: last}, end_points

    def pyramid_features(
        self, images: Any, context: NetworkContext, *, top_stride: int = 32, min_depth: int = 8
    ) -> Mapping[int, Any]:
        if not self.feature_maps:
            return super().pyramid_features(images, context)
        names = {**self.feature_maps, **self.pyramid_maps}
        arguments = self.pyramid_arguments(names[top_stride], top_stride)
        end_points = self.end_points(images, context, min_depth=min_depth, **arguments)
        return {s: _find(end_points, name) for s, name in names.items() if s <= top_stride}

    def pyramid_arguments(self, final_endpoint: str, top_stride: int) -> dict[str, Any]:
        """Returns arguments that end slim's function at the last map of a pyramid, if it can.

        `activation_fn` among them is for the arg scope.

        Args:
          final_endpoint: name of that map.
          top_stride: size of the image over its size.
        """
        del final_endpoint, top_stride
        return self.base_arguments(32)

    def end_points(
        self, images: Any, context: NetworkContext, **arguments: Any
    ) -> Mapping[str, Any]:
        """Builds the layers before the classifier, with the classifier's variables.

        Args:
          images, context: see `features`.
          **arguments: of slim's function, such as `final_endpoint`; a `min_depth` that it does
            not have is left out.

        Returns:
          The end points, name -> tensor.
        """
        accepted = inspect.signature(self._function(self.base or self.function)).parameters
        if "min_depth" not in accepted:
            arguments.pop("min_depth", None)
        return self._backbone(images, context, arguments)[1]

    def from_keras(self, values: Mapping[str, Any]) -> Mapping[str, Any]:
        from tf_frame_vision.keras_layers import keras_variables

        return keras_variables(self.module, self.function, values)

    @property
    def scope(self) -> str:
        """Variable scope of the network."""
        scope: str = inspect.signature(self._function(self.function)).parameters["scope"].default
        return scope

    def _backbone(
        self, images: Any, context: NetworkContext, arguments: Mapping[str, Any]
    ) -> tuple[Any, Mapping[str, Any]]:
        """Builds the layers before the classifier under its scope: the last map, end points."""
        arguments = {"scope": self.scope, **arguments}
        classifier = self._function(self.function)
        if self.base:
            function = self._function(self.base)
            # The width of functions such as mobilenet_v1_050.
            arguments |= getattr(classifier, "keywords", {})
        else:
            function = classifier
            arguments |= {"num_classes": None, "is_training": context.is_training}
        overrides = {**_layer_overrides(context), _ACTIVATION: arguments.pop(_ACTIVATION, None)}
        return self._build(function, images, context, arguments, overrides)

    def decoder_map(
        self, maps: Mapping[int, Any], end_points: Mapping[str, Any], stride: int
    ) -> Any:
        # Source: tensorflow/models, research/deeplab/core/feature_extractor.py,
        # `networks_to_feature_maps`; its published decoders were trained with these.
        last = super().decoder_map(maps, end_points, stride)
        name = self.decoder_maps.get(stride)
        return last if name is None else _find(end_points, name)

    def own_batch_norm_decay(self) -> float | None:
        """Returns the default of slim's function or arg scope; it imports TensorFlow."""
        for name in (self.function, self.arg_scope):
            parameter = inspect.signature(self._function(name)).parameters.get(self._decay_name)
            if parameter is not None:
                decay: float = parameter.default
                return decay
        return None

    @property
    def _decay_name(self) -> str:
        """Name of the argument that the decay of batch norm has in slim's functions."""
        return self.decay_argument or "batch_norm_decay"

    def _argument_name(self, option: str) -> str:
        """Returns the name that a setting of the context has in slim's functions."""
        renamed = {
            "batch_norm_decay": self._decay_name,
            "dropout_keep_prob": self.dropout_argument,
        }
        return renamed.get(option, option)

    def base_arguments(self, output_stride: int) -> dict[str, Any]:
        """Returns arguments that end slim's function at the last feature map.

        Args:
          output_stride: size of the image over size of that map.
        """
        return {"output_stride": output_stride}

    def _function(self, name: str) -> Callable[..., Any]:
        function: Callable[..., Any] = getattr(
            importlib.import_module(f"{_NETS}.{self.module}"), name
        )
        return function

    def _build(
        self,
        function: Callable[..., Any],
        images: Any,
        context: NetworkContext,
        arguments: Mapping[str, Any],
        overrides: Mapping[str, Any],
    ) -> tuple[Any, Mapping[str, Any]]:
        """Calls slim's function under its arg scope; each override goes to the one that takes it.

        Args:
          function: builds the network.
          images: see `Network`.
          context: weight decay, and whether to train.
          arguments: further arguments of the function.
          overrides: settings that differ from the network's own, None: the network's own.

        Raises:
          ConfigError: neither function nor arg scope has one of the settings.
        """
        from tf_frame import layers

        make_scope = self._function(self.arg_scope)
        accepted = inspect.signature(function).parameters
        scope_arguments: dict[str, Any] = {"weight_decay": context.weight_decay}
        arguments = dict(arguments)
        for option, value in overrides.items():
            name = self._argument_name(option)
            if value is None:
                continue
            if name in accepted:
                arguments[name] = value
            elif name in inspect.signature(make_scope).parameters:
                scope_arguments[name] = value
            else:
                raise ConfigError(
                    f"--model.{option} {value}: {self.function} has no such setting; leave it out"
                )
        with (
            layers.arg_scope(make_scope(**scope_arguments)),
            layers.arg_scope([layers.batch_norm, layers.dropout], is_training=context.is_training),
        ):
            net, end_points = function(images, **arguments)
            return net, end_points


def _layer_overrides(context: NetworkContext) -> dict[str, Any]:
    """Overrides that classifiers and backbones have in common."""
    return {
        "batch_norm_decay": context.batch_norm_decay,
        "depth_multiplier": context.depth_multiplier,
        "multi_grid": context.multi_grid,
    }


def _find(end_points: Mapping[str, Any], name: str) -> Any:
    """Returns the end point of a name, also if an outer variable scope precedes the name."""
    return next(t for key, t in end_points.items() if f"/{key}".endswith(f"/{name}"))


def flat_logits(logits: Any, num_classes: int) -> Any:
    """Returns logits as `[batch, num_classes]`.

    Args:
      logits: of that shape, or `[batch, height, width, num_classes]` where the network
        keeps positions.

    Raises:
      ConfigError: there is more than one position, as with images that are larger than
        the network was made for.
    """
    import tensorflow.compat.v1 as tf

    if logits.shape.rank == 4:
        if logits.shape[1:3].as_list() != [1, 1]:
            raise ConfigError(
                f"the network gives logits for {logits.shape[1]} x {logits.shape[2]} positions of "
                "an image; set --input.image_size to its own size, or --model.global_pool"
            )
        logits = tf.squeeze(logits, [1, 2])
    return tf.ensure_shape(logits, [None, num_classes])
