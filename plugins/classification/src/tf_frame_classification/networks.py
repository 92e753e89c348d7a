"""The networks by name, as `--model.name` takes them; what they are made of is in `nets`.

None of this imports TensorFlow.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Mapping
from typing import Any, ClassVar

from tf_frame import Network, NetworkContext
from tf_frame.errors import ConfigError

# Squeezing fails on logits for several positions; the model can say what to do about them.
_SQUEEZE = "spatial_squeeze"


class SlimNetwork(Network):
    """A network whose function has slim's arguments, built under its arg scope.

    Attributes:
      module: module of `tf_frame_classification.nets`.
      function: name of the function in it.
      arg_scope: name of the function that makes its arg scope.
      decay_argument: what that function calls the decay of batch norm; None: it has none.
    """

    module: ClassVar[str]
    function: ClassVar[str]
    arg_scope: ClassVar[str]
    decay_argument: ClassVar[str | None] = None

    def __call__(self, images: Any, context: NetworkContext) -> tuple[Any, Mapping[str, Any]]:
        from tf_frame import layers
        from tf_frame_classification.outputs import flat_logits

        module = importlib.import_module(f"tf_frame_classification.nets.{self.module}")
        function = getattr(module, self.function)
        wishes = self._wishes(context)
        accepted = inspect.signature(function).parameters
        _check(wishes, accepted, self.function)
        if _SQUEEZE in accepted:
            wishes[_SQUEEZE] = False
        with layers.arg_scope(getattr(module, self.arg_scope)(**self._scope(context))):
            logits, end_points = function(
                images, num_classes=context.num_classes, is_training=context.is_training, **wishes
            )
        if context.num_classes:
            logits = flat_logits(logits, context.num_classes)
        return logits, end_points

    def _wishes(self, context: NetworkContext) -> dict[str, Any]:
        """Arguments that differ from the function's own defaults."""
        wishes = {
            "dropout_keep_prob": context.dropout_keep_prob,
            "depth_multiplier": context.depth_multiplier,
            "global_pool": context.global_pool or None,
        }
        return {name: value for name, value in wishes.items() if value is not None}

    def _scope(self, context: NetworkContext) -> dict[str, Any]:
        arguments = {"weight_decay": context.weight_decay}
        if context.batch_norm_decay is not None:
            if self.decay_argument is None:
                raise ConfigError(
                    f"--model.batch_norm_decay {context.batch_norm_decay:g}: {self.function} has "
                    "no batch norm; leave it out"
                )
            arguments[self.decay_argument] = context.batch_norm_decay
        return arguments


def _check(wishes: Mapping[str, Any], accepted: Mapping[str, Any], network: str) -> None:
    """Refuses options that a network does not have."""
    for name, value in wishes.items():
        if name not in accepted:
            raise ConfigError(
                f"--model.{name} {value}: {network} has no such setting; leave it out"
            )


class Lenet(SlimNetwork):
    """LeNet, for MNIST and other small grey images (LeCun et al. 1998, as slim has it)."""

    module = function = "lenet"
    arg_scope = "lenet_arg_scope"
    default_image_size = 28
    channels = None
    preprocessing = "lenet"


class Cifarnet(SlimNetwork):
    """A small network for CIFAR-10 and other small images."""

    module = function = "cifarnet"
    arg_scope = "cifarnet_arg_scope"
    default_image_size = 32
    channels = None
    preprocessing = "cifarnet"


class AlexnetV2(SlimNetwork):
    """AlexNet, version 2 (https://arxiv.org/abs/1404.5997)."""

    module, function = "alexnet", "alexnet_v2"
    arg_scope = "alexnet_v2_arg_scope"
    preprocessing = "vgg"


class VggA(SlimNetwork):
    """VGG with 11 layers (https://arxiv.org/abs/1409.1556)."""

    module, function = "vgg", "vgg_a"
    arg_scope = "vgg_arg_scope"
    preprocessing = "vgg"


class Vgg16(VggA):
    """VGG with 16 layers (https://arxiv.org/abs/1409.1556)."""

    function = "vgg_16"


class Vgg19(VggA):
    """VGG with 19 layers (https://arxiv.org/abs/1409.1556)."""

    function = "vgg_19"


class InceptionV1(SlimNetwork):
    """GoogLeNet (https://arxiv.org/abs/1409.4842)."""

    module = function = "inception_v1"
    arg_scope = "inception_v1_arg_scope"
    decay_argument = "batch_norm_decay"


class InceptionV2(InceptionV1):
    """Inception with batch norm (https://arxiv.org/abs/1502.03167)."""

    module = function = "inception_v2"
    arg_scope = "inception_v2_arg_scope"


class InceptionV3(InceptionV1):
    """Inception version 3 (https://arxiv.org/abs/1512.00567), with an auxiliary classifier."""

    module = function = "inception_v3"
    arg_scope = "inception_v3_arg_scope"
    default_image_size = 299


class InceptionV4(InceptionV3):
    """Inception version 4 (https://arxiv.org/abs/1602.07261), with an auxiliary classifier."""

    module = function = "inception_v4"
    arg_scope = "inception_v4_arg_scope"


class InceptionResnetV2(InceptionV3):
    """Inception with residual connections (https://arxiv.org/abs/1602.07261)."""

    module = function = "inception_resnet_v2"
    arg_scope = "inception_resnet_v2_arg_scope"


class ResnetV1_50(SlimNetwork):
    """Residual network with 50 layers (https://arxiv.org/abs/1512.03385)."""

    module, function = "resnet_v1", "resnet_v1_50"
    arg_scope = "resnet_arg_scope"
    decay_argument = "batch_norm_decay"
    preprocessing = "vgg"


class ResnetV1_101(ResnetV1_50):
    """Residual network with 101 layers (https://arxiv.org/abs/1512.03385)."""

    function = "resnet_v1_101"


class ResnetV1_152(ResnetV1_50):
    """Residual network with 152 layers (https://arxiv.org/abs/1512.03385)."""

    function = "resnet_v1_152"


class ResnetV1_200(ResnetV1_50):
    """Residual network with 200 layers."""

    function = "resnet_v1_200"


class ResnetV2_50(ResnetV1_50):
    """Residual network with 50 layers, pre-activated (https://arxiv.org/abs/1603.05027)."""

    module, function = "resnet_v2", "resnet_v2_50"
    # slim's published checkpoints of version 2 were trained with Inception's preprocessing at 299.
    preprocessing = "inception"


class ResnetV2_101(ResnetV2_50):
    """Residual network with 101 layers, pre-activated (https://arxiv.org/abs/1603.05027)."""

    function = "resnet_v2_101"


class ResnetV2_152(ResnetV2_50):
    """Residual network with 152 layers, pre-activated (https://arxiv.org/abs/1603.05027)."""

    function = "resnet_v2_152"


class ResnetV2_200(ResnetV2_50):
    """Residual network with 200 layers, pre-activated (https://arxiv.org/abs/1603.05027)."""

    function = "resnet_v2_200"


class MobilenetV1(SlimNetwork):
    """MobileNet (https://arxiv.org/abs/1704.04861)."""

    module = function = "mobilenet_v1"
    arg_scope = "mobilenet_v1_arg_scope"
    decay_argument = "batch_norm_decay"


class MobilenetV1_075(MobilenetV1):
    """MobileNet with 0.75 times the channels (https://arxiv.org/abs/1704.04861)."""

    function = "mobilenet_v1_075"


class MobilenetV1_050(MobilenetV1):
    """MobileNet with 0.5 times the channels (https://arxiv.org/abs/1704.04861)."""

    function = "mobilenet_v1_050"


class MobilenetV1_025(MobilenetV1):
    """MobileNet with 0.25 times the channels (https://arxiv.org/abs/1704.04861)."""

    function = "mobilenet_v1_025"


class MobilenetV2(SlimNetwork):
    """MobileNet version 2 (https://arxiv.org/abs/1801.04381)."""

    module, function = "mobilenet_v2", "mobilenet"
    arg_scope = "training_scope"
    decay_argument = "bn_decay"


class MobilenetV2_140(MobilenetV2):
    """MobileNet version 2 with 1.4 times the channels (https://arxiv.org/abs/1801.04381)."""

    function = "mobilenet_v2_140"


class MobilenetV2_035(MobilenetV2):
    """MobileNet version 2 with 0.35 times the channels (https://arxiv.org/abs/1801.04381)."""

    function = "mobilenet_v2_035"


class MobilenetV3Large(SlimNetwork):
    """MobileNet version 3, the large one (https://arxiv.org/abs/1905.02244)."""

    module, function = "mobilenet_v3", "large"
    arg_scope = "training_scope"
    decay_argument = "bn_decay"


class MobilenetV3Small(MobilenetV3Large):
    """MobileNet version 3, the small one (https://arxiv.org/abs/1905.02244)."""

    function = "small"
