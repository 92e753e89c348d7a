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
      always_pools: whether it averages over all positions without being asked.
    """

    module: ClassVar[str]
    function: ClassVar[str]
    arg_scope: ClassVar[str]
    decay_argument: ClassVar[str | None] = None
    always_pools: ClassVar[bool] = False

    def __call__(self, images: Any, context: NetworkContext) -> tuple[Any, Mapping[str, Any]]:
        from tf_frame import layers
        from tf_frame_classification.outputs import flat_logits

        module = importlib.import_module(f"tf_frame_classification.nets.{self.module}")
        function, make_scope = getattr(module, self.function), getattr(module, self.arg_scope)
        arguments, of_scope = self._divided(context, function, make_scope)
        with layers.arg_scope(make_scope(weight_decay=context.weight_decay, **of_scope)):
            logits, end_points = function(
                images,
                num_classes=context.num_classes,
                is_training=context.is_training,
                **arguments,
            )
        if context.num_classes:
            logits = flat_logits(logits, context.num_classes)
        return logits, end_points

    def _divided(
        self, context: NetworkContext, function: Any, make_scope: Any
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """What is asked for, as arguments of the function and of its arg scope.

        Raises:
          ConfigError: neither of them takes one of the wishes.
        """
        accepted = inspect.signature(function).parameters
        by_scope = inspect.signature(make_scope).parameters
        arguments: dict[str, Any] = {_SQUEEZE: False} if _SQUEEZE in accepted else {}
        of_scope: dict[str, Any] = {}
        for option, value in self._wishes(context).items():
            name = (self.decay_argument or option) if option == "batch_norm_decay" else option
            if name in accepted:
                arguments[name] = value
            elif name in by_scope:
                of_scope[name] = value
            else:
                raise ConfigError(
                    f"--model.{option} {value}: {self.function} has no such setting; leave it out"
                )
        return arguments, of_scope

    def _wishes(self, context: NetworkContext) -> dict[str, Any]:
        """What is to be other than the network's own."""
        wishes = {
            "batch_norm_decay": context.batch_norm_decay,
            "dropout_keep_prob": context.dropout_keep_prob,
            "depth_multiplier": context.depth_multiplier,
            "global_pool": (context.global_pool and not self.always_pools) or None,
        }
        return {name: value for name, value in wishes.items() if value is not None}


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
    always_pools = True


class MobilenetV2_140(MobilenetV2):
    """MobileNet version 2 with 1.4 times the channels (https://arxiv.org/abs/1801.04381)."""

    function = "mobilenet_v2_140"


class MobilenetV2_130(MobilenetV2):
    """MobileNet version 2 with 1.3 times the channels (https://arxiv.org/abs/1801.04381)."""

    function = "mobilenet_v2_130"


class MobilenetV2_075(MobilenetV2):
    """MobileNet version 2 with 0.75 times the channels (https://arxiv.org/abs/1801.04381)."""

    function = "mobilenet_v2_075"


class MobilenetV2_050(MobilenetV2):
    """MobileNet version 2 with 0.5 times the channels (https://arxiv.org/abs/1801.04381)."""

    function = "mobilenet_v2_050"


class MobilenetV2_035(MobilenetV2):
    """MobileNet version 2 with 0.35 times the channels (https://arxiv.org/abs/1801.04381)."""

    function = "mobilenet_v2_035"


class MobilenetV3Large(SlimNetwork):
    """MobileNet version 3, the large one (https://arxiv.org/abs/1905.02244)."""

    module, function = "mobilenet_v3", "large"
    arg_scope = "training_scope"
    decay_argument = "bn_decay"
    always_pools = True


class MobilenetV3Small(MobilenetV3Large):
    """MobileNet version 3, the small one (https://arxiv.org/abs/1905.02244)."""

    function = "small"


class MobilenetV3LargeMinimalistic(MobilenetV3Large):
    """The large one without squeeze-and-excitation, hard swish and 5x5 kernels."""

    function = "large_minimalistic"


class MobilenetV3SmallMinimalistic(MobilenetV3Large):
    """The small one without squeeze-and-excitation, hard swish and 5x5 kernels."""

    function = "small_minimalistic"
