"""Network plugins by name, as `--model.name` takes them.

A class with methods stands for a family of networks with the same arguments. All further networks
are rows: the function of `nets` that builds the network, and the layers that give the feature maps
of a backbone. Nothing here imports TensorFlow, so that `tf-frame plugins` answers
at once.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from tf_frame import NetworkContext
from tf_frame_vision.feature_maps import (
    EndPoints,
    by_stride,
    depthwise_outputs,
    resnet_blocks,
    resnet_decoder_maps,
    resnet_maps,
    xception_decoder_maps,
    xception_maps,
)
from tf_frame_vision.slim_network import SlimNetwork


def _row(family: type[SlimNetwork], name: str, about: str, **attributes: Any) -> type[SlimNetwork]:
    """Makes the class of a network that differs from its family in attributes only."""
    return type(name, (family,), {"__doc__": about, "__module__": __name__, **attributes})


Lenet = _row(
    SlimNetwork,
    "Lenet",
    "LeNet, for MNIST and other small grey images (LeCun et al. 1998, as slim has it).",
    module="lenet",
    function="lenet",
    arg_scope="lenet_arg_scope",
    default_image_size=28,
    channels=None,
    preprocessing="lenet",
)
Cifarnet = _row(
    SlimNetwork,
    "Cifarnet",
    "A small network for CIFAR-10 and other small images.",
    module="cifarnet",
    function="cifarnet",
    arg_scope="cifarnet_arg_scope",
    default_image_size=32,
    channels=None,
    preprocessing="cifarnet",
)
AlexnetV2 = _row(
    SlimNetwork,
    "AlexnetV2",
    "AlexNet, version 2 (https://arxiv.org/abs/1404.5997).",
    module="alexnet",
    function="alexnet_v2",
    arg_scope="alexnet_v2_arg_scope",
    preprocessing="vgg",
)


def _vgg(name: str, function: str, layers: int) -> type[SlimNetwork]:
    return _row(
        SlimNetwork,
        name,
        f"VGG with {layers} layers (https://arxiv.org/abs/1409.1556).",
        module="vgg",
        function=function,
        arg_scope="vgg_arg_scope",
        preprocessing="vgg",
    )


VggA = _vgg("VggA", "vgg_a", 11)
Vgg16 = _vgg("Vgg16", "vgg_16", 16)
Vgg19 = _vgg("Vgg19", "vgg_19", 19)


class _Inception(SlimNetwork):
    """Inception; slim has dilated kernels in inception_resnet_v2 only."""

    decay_argument = "batch_norm_decay"
    output_strides: ClassVar[tuple[int, ...]] = (32,)

    def base_arguments(self, output_stride: int) -> dict[str, Any]:
        return {}


class _InceptionResnet(_Inception):
    """Inception with residual connections."""

    output_strides = (8, 16, 32)

    def base_arguments(self, output_stride: int) -> dict[str, Any]:
        # The argument `output_stride` of slim's function is the stride of PreAuxLogits.
        last = "Conv2d_7b_1x1" if output_stride == 32 else "PreAuxLogits"
        return {
            "final_endpoint": last,
            "output_stride": min(output_stride, 16),
            "align_feature_maps": True,
        }


def _inception(
    name: str, function: str, about: str, maps: EndPoints, *, size: int, family: Any = _Inception
) -> type[SlimNetwork]:
    return _row(
        family,
        name,
        about,
        module=function,
        function=function,
        base=f"{function}_base",
        arg_scope=f"{function}_arg_scope",
        default_image_size=size,
        feature_maps=maps,
    )


InceptionV1 = _inception(
    "InceptionV1",
    "inception_v1",
    "GoogLeNet (https://arxiv.org/abs/1409.4842).",
    by_stride("Conv2d_1a_7x7", "Conv2d_2c_3x3", "Mixed_3c", "Mixed_4f", "Mixed_5c"),
    size=224,
)
InceptionV2 = _inception(
    "InceptionV2",
    "inception_v2",
    "Inception with batch norm (https://arxiv.org/abs/1502.03167).",
    by_stride("Conv2d_1a_7x7", "Conv2d_2c_3x3", "Mixed_3c", "Mixed_4e", "Mixed_5c"),
    size=224,
)
InceptionV3 = _inception(
    "InceptionV3",
    "inception_v3",
    "Inception version 3 (https://arxiv.org/abs/1512.00567), with an auxiliary classifier.",
    by_stride("Conv2d_2b_3x3", "Conv2d_4a_3x3", "Mixed_5d", "Mixed_6e", "Mixed_7c"),
    size=299,
)
InceptionV4 = _inception(
    "InceptionV4",
    "inception_v4",
    "Inception version 4 (https://arxiv.org/abs/1602.07261), with an auxiliary classifier.",
    by_stride("Conv2d_2b_3x3", "Mixed_4a", "Mixed_5e", "Mixed_6h", "Mixed_7d"),
    size=299,
)
InceptionResnetV2 = _inception(
    "InceptionResnetV2",
    "inception_resnet_v2",
    "Inception with residual connections (https://arxiv.org/abs/1602.07261).",
    by_stride("Conv2d_2b_3x3", "Conv2d_4a_3x3", "Mixed_5b", "PreAuxLogits", "Conv2d_7b_1x1"),
    size=299,
    family=_InceptionResnet,
)


class _Resnet(SlimNetwork):
    """Residual networks."""

    arg_scope = "resnet_arg_scope"
    decay_argument = "batch_norm_decay"

    def base_arguments(self, output_stride: int) -> dict[str, Any]:
        return {"global_pool": False, "output_stride": output_stride}


class ResnetV1_18(_Resnet):
    """Residual network with 18 layers, for training from scratch on a CPU."""

    module = function = "resnet_v1_18"
    feature_maps: ClassVar[EndPoints] = {2: "resnet_v1_18/conv1", **resnet_blocks("resnet_v1_18")}

    def pyramid_arguments(self, final_endpoint: str, top_stride: int) -> dict[str, Any]:
        return {"global_pool": False, "num_blocks": int(final_endpoint[-1])}


class _ResnetV1(_Resnet):
    """Residual networks of version 1, with the pyramids of the object detection API.

    Source: its ssd_resnet_v1_fpn_feature_extractor.py.
    """

    module = "resnet_v1"
    preprocessing = "vgg"

    def pyramid_arguments(self, final_endpoint: str, top_stride: int) -> dict[str, Any]:
        import tensorflow.compat.v1 as tf

        return {
            # Its configurations have RELU_6 and override_base_feature_extractor_hyperparams.
            "activation_fn": tf.nn.relu6,
            "global_pool": False,
            "num_blocks": int(final_endpoint[-1]),
            "store_non_strided_activations": True,
        }


class _ResnetBeta(_Resnet):
    """DeepLab's residual networks, which begin with three 3x3 convolutions."""

    module = "resnet_v1_beta"

    def __call__(self, images: Any, context: NetworkContext) -> tuple[Any, Mapping[str, Any]]:
        # DeepLab's function averages only when it is asked to.
        return super().__call__(images, dataclasses.replace(context, global_pool=True))


def _resnet_v1(layers: int, block2: int, block3: int) -> type[SlimNetwork]:
    function = f"resnet_v1_{layers}"
    return _row(
        _ResnetV1,
        f"ResnetV1_{layers}",
        f"Residual network with {layers} layers (https://arxiv.org/abs/1512.03385).",
        function=function,
        feature_maps=resnet_maps(function, block2, block3),
        # DeepLab has decoders of the networks with 50 and 101 layers.
        decoder_maps=resnet_decoder_maps(function, block3) if layers <= 101 else {},
        pyramid_maps=resnet_blocks(function),
    )


def _resnet_v1_beta(layers: int, block2: int, block3: int) -> type[SlimNetwork]:
    scope = f"resnet_v1_{layers}"
    return _row(
        _ResnetBeta,
        f"ResnetV1_{layers}Beta",
        f"DeepLab's residual network with {layers} layers, three 3x3 convolutions for a root.",
        function=f"{scope}_beta",
        feature_maps={**resnet_maps(scope, block2, block3), 2: f"{scope}/conv1_3"},
        decoder_maps=resnet_decoder_maps(scope, block3),
    )


def _resnet_v2(layers: int, block2: int, block3: int) -> type[SlimNetwork]:
    # slim's published checkpoints of version 2 were trained with Inception's preprocessing at 299.
    function = f"resnet_v2_{layers}"
    return _row(
        _Resnet,
        f"ResnetV2_{layers}",
        f"Residual network with {layers} layers, pre-activated (https://arxiv.org/abs/1603.05027).",
        module="resnet_v2",
        function=function,
        feature_maps=resnet_maps(function, block2, block3),
    )


ResnetV1_50 = _resnet_v1(50, 4, 6)
ResnetV1_101 = _resnet_v1(101, 4, 23)
ResnetV1_152 = _resnet_v1(152, 8, 36)
ResnetV1_200 = _resnet_v1(200, 24, 36)
ResnetV1_50Beta = _resnet_v1_beta(50, 4, 6)
ResnetV1_101Beta = _resnet_v1_beta(101, 4, 23)
ResnetV2_50 = _resnet_v2(50, 4, 6)
ResnetV2_101 = _resnet_v2(101, 4, 23)
ResnetV2_152 = _resnet_v2(152, 8, 36)
ResnetV2_200 = _resnet_v2(200, 24, 36)


class _Xception(SlimNetwork):
    """The aligned Xception of DeepLab."""

    module = "xception"
    arg_scope = "xception_arg_scope"
    decay_argument = "batch_norm_decay"
    dropout_argument = "keep_prob"
    always_pools = True
    default_image_size = 299

    def base_arguments(self, output_stride: int) -> dict[str, Any]:
        return {"global_pool": False, "output_stride": output_stride}


def _xception(
    layers: int, last_blocks: tuple[int, int], decoder_blocks: tuple[int, int]
) -> type[SlimNetwork]:
    scope = f"xception_{layers}"
    return _row(
        _Xception,
        f"Xception{layers}",
        f"The aligned Xception with {layers} layers of DeepLab (https://arxiv.org/abs/1802.02611).",
        function=scope,
        feature_maps=xception_maps(scope, *last_blocks),
        decoder_maps=xception_decoder_maps(scope, *decoder_blocks),
    )


Xception41 = _xception(41, (1, 2), (2, 3))
Xception65 = _xception(65, (1, 2), (2, 3))
Xception71 = _xception(71, (2, 4), (3, 5))


class MobilenetV1(SlimNetwork):
    """MobileNet (https://arxiv.org/abs/1704.04861)."""

    module = function = "mobilenet_v1"
    base = "mobilenet_v1_base"
    arg_scope = "mobilenet_v1_arg_scope"
    decay_argument = "batch_norm_decay"
    feature_maps = by_stride(*(f"Conv2d_{number}_pointwise" for number in (1, 3, 5, 11, 13)))

    def pyramid_arguments(self, final_endpoint: str, top_stride: int) -> dict[str, Any]:
        return {"final_endpoint": final_endpoint}


class MobilenetV2(SlimNetwork):
    """MobileNet version 2 (https://arxiv.org/abs/1801.04381)."""

    module, function = "mobilenet_v2", "mobilenet"
    arg_scope = "training_scope"
    decay_argument = "bn_decay"
    always_pools = True
    # layer_19 with its 1280 channels belongs to the classifier.
    feature_maps = by_stride("layer_2", "layer_4", "layer_7", "layer_14", "layer_18")
    decoder_maps = depthwise_outputs(4, 7, 14)
    # The object detection API's ssd_mobilenet_v2_fpn_feature_extractor.py.
    pyramid_maps: ClassVar[EndPoints] = {32: "layer_19"}

    def base_arguments(self, output_stride: int) -> dict[str, Any]:
        last = self.feature_maps[32]
        return {"base_only": True, "final_endpoint": last, "output_stride": output_stride}

    def pyramid_arguments(self, final_endpoint: str, top_stride: int) -> dict[str, Any]:
        return {"base_only": True, "final_endpoint": final_endpoint}


def _scaled(family: type[SlimNetwork], percent: int) -> type[SlimNetwork]:
    """Makes the row of a MobileNet with another number of channels."""
    kind, _, source = (family.__doc__ or "").partition(" (")
    return _row(
        family,
        f"{family.__name__}_{percent:03}",
        f"{kind} with {percent / 100:g} times the channels ({source}",
        function=f"{family.module}_{percent:03}",
    )


def _mobilenet_v3(function: str, about: str, layers: Sequence[int]) -> type[SlimNetwork]:
    return _row(
        MobilenetV2,
        f"MobilenetV3{function.title().replace('_', '')}",
        about,
        module="mobilenet_v3",
        function=function,
        feature_maps=by_stride(*(f"layer_{layer}" for layer in layers)),
        decoder_maps=depthwise_outputs(*layers[1:4]),
        pyramid_maps={},
    )


MobilenetV1_075 = _scaled(MobilenetV1, 75)
MobilenetV1_050 = _scaled(MobilenetV1, 50)
MobilenetV1_025 = _scaled(MobilenetV1, 25)
MobilenetV2_140 = _scaled(MobilenetV2, 140)
MobilenetV2_130 = _scaled(MobilenetV2, 130)
MobilenetV2_075 = _scaled(MobilenetV2, 75)
MobilenetV2_050 = _scaled(MobilenetV2, 50)
MobilenetV2_035 = _scaled(MobilenetV2, 35)
_LARGE, _SMALL = (2, 4, 7, 13, 16), (1, 2, 4, 9, 12)
MobilenetV3Large = _mobilenet_v3(
    "large", "MobileNet version 3, the large one (https://arxiv.org/abs/1905.02244).", _LARGE
)
MobilenetV3Small = _mobilenet_v3(
    "small", "MobileNet version 3, the small one (https://arxiv.org/abs/1905.02244).", _SMALL
)
MobilenetV3LargeMinimalistic = _mobilenet_v3(
    "large_minimalistic",
    "The large one without squeeze-and-excitation, hard swish and 5x5 kernels.",
    _LARGE,
)
MobilenetV3SmallMinimalistic = _mobilenet_v3(
    "small_minimalistic",
    "The small one without squeeze-and-excitation, hard swish and 5x5 kernels.",
    _SMALL,
)
# DeepLab's pyramid takes the 1x1 convolution after the last block.
MobilenetV3LargeSeg = _mobilenet_v3(
    "large_seg",
    "The large one for segmentation: half the channels from the last stride on.",
    (*_LARGE[:-1], 17),
)
MobilenetV3SmallSeg = _mobilenet_v3(
    "small_seg",
    "The small one for segmentation: half the channels from the last stride on.",
    (*_SMALL[:-1], 13),
)
