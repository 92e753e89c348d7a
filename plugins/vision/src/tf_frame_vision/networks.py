"""Network plugins by name, as `--model.name` takes them.

A class says which function of `nets` builds the network, for which image size and preprocessing
it was trained, and which layers give the feature maps of a backbone: a model then takes any
network by its name. Nothing here imports TensorFlow, so that `tf-frame plugins` answers at once.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, ClassVar

from tf_frame import NetworkContext
from tf_frame_vision.slim_network import SlimNetwork


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
    base = "inception_v1_base"
    arg_scope = "inception_v1_arg_scope"
    decay_argument = "batch_norm_decay"
    feature_maps: ClassVar[Mapping[int, str]] = {
        2: "Conv2d_1a_7x7",
        4: "Conv2d_2c_3x3",
        8: "Mixed_3c",
        16: "Mixed_4f",
        32: "Mixed_5c",
    }
    # Slim has dilated kernels in inception_resnet_v2 only.
    output_strides: ClassVar[tuple[int, ...]] = (32,)

    def base_arguments(self, output_stride: int) -> dict[str, Any]:
        return {}


class InceptionV2(InceptionV1):
    """Inception with batch norm (https://arxiv.org/abs/1502.03167)."""

    module = function = "inception_v2"
    base = "inception_v2_base"
    feature_maps: ClassVar[Mapping[int, str]] = {
        **InceptionV1.feature_maps,
        16: "Mixed_4e",
    }
    arg_scope = "inception_v2_arg_scope"


class InceptionV3(InceptionV1):
    """Inception version 3 (https://arxiv.org/abs/1512.00567), with an auxiliary classifier."""

    module = function = "inception_v3"
    base = "inception_v3_base"
    arg_scope = "inception_v3_arg_scope"
    default_image_size = 299
    feature_maps: ClassVar[Mapping[int, str]] = {
        2: "Conv2d_2b_3x3",
        4: "Conv2d_4a_3x3",
        8: "Mixed_5d",
        16: "Mixed_6e",
        32: "Mixed_7c",
    }


class InceptionV4(InceptionV3):
    """Inception version 4 (https://arxiv.org/abs/1602.07261), with an auxiliary classifier."""

    module = function = "inception_v4"
    base = "inception_v4_base"
    arg_scope = "inception_v4_arg_scope"
    feature_maps: ClassVar[Mapping[int, str]] = {
        2: "Conv2d_2b_3x3",
        4: "Mixed_4a",
        8: "Mixed_5e",
        16: "Mixed_6h",
        32: "Mixed_7d",
    }


class InceptionResnetV2(InceptionV3):
    """Inception with residual connections (https://arxiv.org/abs/1602.07261)."""

    module = function = "inception_resnet_v2"
    base = "inception_resnet_v2_base"
    arg_scope = "inception_resnet_v2_arg_scope"
    feature_maps: ClassVar[Mapping[int, str]] = {
        2: "Conv2d_2b_3x3",
        4: "Conv2d_4a_3x3",
        8: "Mixed_5b",
        16: "PreAuxLogits",
        32: "Conv2d_7b_1x1",
    }
    output_strides = (8, 16, 32)

    def base_arguments(self, output_stride: int) -> dict[str, Any]:
        # The argument `output_stride` of slim's function is the stride of PreAuxLogits.
        last = "Conv2d_7b_1x1" if output_stride == 32 else "PreAuxLogits"
        return {
            "final_endpoint": last,
            "output_stride": min(output_stride, 16),
            "align_feature_maps": True,
        }


def _resnet_maps(network: str, block2: int, block3: int) -> Mapping[int, str]:
    """Returns the last unit of each stride; the last unit of a block has the block's stride.

    Args:
      network: name of the function.
      block2, block3: units of these blocks; the first one has three.
    """
    unit = f"bottleneck_{network.split('_')[1]}"
    return {
        2: f"{network}/conv1",
        4: f"{network}/block1/unit_2/{unit}",
        8: f"{network}/block2/unit_{block2 - 1}/{unit}",
        16: f"{network}/block3/unit_{block3 - 1}/{unit}",
        32: f"{network}/block4",
    }


def _resnet_decoder_maps(network: str, block3: int) -> Mapping[int, str]:
    """Returns the third convolution of the last unit of each stride, before the sum.

    Args:
      network: its variable scope.
      block3: units of this block; the first two have three and four.
    """
    units = {4: "block1/unit_2", 8: "block2/unit_3", 16: f"block3/unit_{block3 - 1}"}
    return {s: f"{network}/{unit}/bottleneck_v1/conv3" for s, unit in units.items()}


def _resnet_blocks(network: str) -> Mapping[int, str]:
    """Returns the output of each block, of which none has lost a stride."""
    return {2 ** (block + 1): f"{network}/block{block}" for block in (1, 2, 3, 4)}


class ResnetV1_18(SlimNetwork):
    """Residual network with 18 layers, for training from scratch on a CPU."""

    module = function = "resnet_v1_18"
    arg_scope = "resnet_arg_scope"
    decay_argument = "batch_norm_decay"
    feature_maps: ClassVar[Mapping[int, str]] = {
        2: "resnet_v1_18/conv1",
        **_resnet_blocks("resnet_v1_18"),
    }

    def base_arguments(self, output_stride: int) -> dict[str, Any]:
        return {"global_pool": False, "output_stride": output_stride}

    def pyramid_arguments(self, final_endpoint: str, top_stride: int) -> dict[str, Any]:
        return {"global_pool": False, "num_blocks": int(final_endpoint[-1])}


class ResnetV1_50(SlimNetwork):
    """Residual network with 50 layers (https://arxiv.org/abs/1512.03385)."""

    module, function = "resnet_v1", "resnet_v1_50"
    arg_scope = "resnet_arg_scope"
    decay_argument = "batch_norm_decay"
    preprocessing = "vgg"
    feature_maps = _resnet_maps("resnet_v1_50", 4, 6)
    decoder_maps = _resnet_decoder_maps("resnet_v1_50", 6)
    # The object detection API's ssd_resnet_v1_fpn_feature_extractor.py.
    pyramid_maps: ClassVar[Mapping[int, str]] = _resnet_blocks("resnet_v1_50")

    def base_arguments(self, output_stride: int) -> dict[str, Any]:
        return {"global_pool": False, "output_stride": output_stride}

    def pyramid_arguments(self, final_endpoint: str, top_stride: int) -> dict[str, Any]:
        if not self.pyramid_maps:
            return super().pyramid_arguments(final_endpoint, top_stride)
        import tensorflow.compat.v1 as tf

        return {
            # Its configurations have RELU_6 and override_base_feature_extractor_hyperparams.
            "activation_fn": tf.nn.relu6,
            "global_pool": False,
            "num_blocks": int(final_endpoint[-1]),
            "store_non_strided_activations": True,
        }


class ResnetV1_101(ResnetV1_50):
    """Residual network with 101 layers (https://arxiv.org/abs/1512.03385)."""

    function = "resnet_v1_101"
    feature_maps = _resnet_maps("resnet_v1_101", 4, 23)
    decoder_maps = _resnet_decoder_maps("resnet_v1_101", 23)
    pyramid_maps = _resnet_blocks("resnet_v1_101")


class ResnetV1_152(ResnetV1_50):
    """Residual network with 152 layers (https://arxiv.org/abs/1512.03385)."""

    function = "resnet_v1_152"
    feature_maps = _resnet_maps("resnet_v1_152", 8, 36)
    decoder_maps: ClassVar[Mapping[int, str]] = {}
    pyramid_maps = _resnet_blocks("resnet_v1_152")


class ResnetV1_200(ResnetV1_50):
    """Residual network with 200 layers."""

    function = "resnet_v1_200"
    feature_maps = _resnet_maps("resnet_v1_200", 24, 36)
    decoder_maps: ClassVar[Mapping[int, str]] = {}
    pyramid_maps = _resnet_blocks("resnet_v1_200")


class ResnetV1_50Beta(ResnetV1_50):
    """DeepLab's residual network with 50 layers, three 3x3 convolutions for a root."""

    module, function = "resnet_v1_beta", "resnet_v1_50_beta"
    preprocessing = "inception"
    pyramid_maps: ClassVar[Mapping[int, str]] = {}
    feature_maps: ClassVar[Mapping[int, str]] = {
        **ResnetV1_50.feature_maps,
        2: "resnet_v1_50/conv1_3",
    }

    def __call__(self, images: Any, context: NetworkContext) -> tuple[Any, Mapping[str, Any]]:
        # DeepLab's function averages only when it is asked to.
        return super().__call__(images, dataclasses.replace(context, global_pool=True))


class ResnetV1_101Beta(ResnetV1_50Beta):
    """DeepLab's residual network with 101 layers, three 3x3 convolutions for a root."""

    function = "resnet_v1_101_beta"
    feature_maps: ClassVar[Mapping[int, str]] = {
        **ResnetV1_101.feature_maps,
        2: "resnet_v1_101/conv1_3",
    }
    decoder_maps = ResnetV1_101.decoder_maps


class ResnetV2_50(ResnetV1_50):
    """Residual network with 50 layers, pre-activated (https://arxiv.org/abs/1603.05027)."""

    module, function = "resnet_v2", "resnet_v2_50"
    feature_maps = _resnet_maps("resnet_v2_50", 4, 6)
    decoder_maps: ClassVar[Mapping[int, str]] = {}
    # slim's published checkpoints of version 2 were trained with Inception's preprocessing at 299.
    preprocessing = "inception"
    pyramid_maps: ClassVar[Mapping[int, str]] = {}


class ResnetV2_101(ResnetV2_50):
    """Residual network with 101 layers, pre-activated (https://arxiv.org/abs/1603.05027)."""

    function = "resnet_v2_101"
    feature_maps = _resnet_maps("resnet_v2_101", 4, 23)


class ResnetV2_152(ResnetV2_50):
    """Residual network with 152 layers, pre-activated (https://arxiv.org/abs/1603.05027)."""

    function = "resnet_v2_152"
    feature_maps = _resnet_maps("resnet_v2_152", 8, 36)


class ResnetV2_200(ResnetV2_50):
    """Residual network with 200 layers, pre-activated (https://arxiv.org/abs/1603.05027)."""

    function = "resnet_v2_200"
    feature_maps = _resnet_maps("resnet_v2_200", 24, 36)


def _xception_maps(network: str, blocks: Mapping[int, str]) -> Mapping[int, str]:
    """Returns the last block of each stride.

    Args:
      network: its variable scope.
      blocks: blocks of the entry flow with stride 4 and 8.
    """
    return {
        2: f"{network}/entry_flow/conv1_2",
        **{stride: f"{network}/entry_flow/{block}" for stride, block in blocks.items()},
        16: f"{network}/middle_flow/block1",
        32: f"{network}/exit_flow/block2",
    }


def _xception_decoder_maps(network: str, blocks: Mapping[int, str]) -> Mapping[int, str]:
    """Returns the second convolution of the block that ends each stride.

    Args:
      network: its variable scope.
      blocks: blocks of the entry flow that begin with stride 4 and 8.
    """
    flows = {stride: f"entry_flow/{block}" for stride, block in blocks.items()}
    module = "unit_1/xception_module/separable_conv2_pointwise"
    return {s: f"{network}/{b}/{module}" for s, b in {**flows, 16: "exit_flow/block1"}.items()}


class Xception65(SlimNetwork):
    """The aligned Xception with 65 layers of DeepLab (https://arxiv.org/abs/1802.02611)."""

    module, function = "xception", "xception_65"
    arg_scope = "xception_arg_scope"
    decay_argument = "batch_norm_decay"
    dropout_argument = "keep_prob"
    always_pools = True
    default_image_size = 299
    feature_maps = _xception_maps("xception_65", {4: "block1", 8: "block2"})
    decoder_maps = _xception_decoder_maps("xception_65", {4: "block2", 8: "block3"})

    def base_arguments(self, output_stride: int) -> dict[str, Any]:
        return {"global_pool": False, "output_stride": output_stride}


class Xception41(Xception65):
    """The aligned Xception with 41 layers of DeepLab (https://arxiv.org/abs/1802.02611)."""

    function = "xception_41"
    feature_maps = _xception_maps("xception_41", {4: "block1", 8: "block2"})
    decoder_maps = _xception_decoder_maps("xception_41", {4: "block2", 8: "block3"})


class Xception71(Xception65):
    """The aligned Xception with 71 layers of DeepLab (https://arxiv.org/abs/1802.02611)."""

    function = "xception_71"
    feature_maps = _xception_maps("xception_71", {4: "block2", 8: "block4"})
    decoder_maps = _xception_decoder_maps("xception_71", {4: "block3", 8: "block5"})


class MobilenetV1(SlimNetwork):
    """MobileNet (https://arxiv.org/abs/1704.04861)."""

    module = function = "mobilenet_v1"
    base = "mobilenet_v1_base"
    feature_maps: ClassVar[Mapping[int, str]] = {
        2: "Conv2d_1_pointwise",
        4: "Conv2d_3_pointwise",
        8: "Conv2d_5_pointwise",
        16: "Conv2d_11_pointwise",
        32: "Conv2d_13_pointwise",
    }
    arg_scope = "mobilenet_v1_arg_scope"
    decay_argument = "batch_norm_decay"

    def pyramid_arguments(self, final_endpoint: str, top_stride: int) -> dict[str, Any]:
        return {"final_endpoint": final_endpoint}


class MobilenetV1_075(MobilenetV1):
    """MobileNet with 0.75 times the channels (https://arxiv.org/abs/1704.04861)."""

    function = "mobilenet_v1_075"


class MobilenetV1_050(MobilenetV1):
    """MobileNet with 0.5 times the channels (https://arxiv.org/abs/1704.04861)."""

    function = "mobilenet_v1_050"


class MobilenetV1_025(MobilenetV1):
    """MobileNet with 0.25 times the channels (https://arxiv.org/abs/1704.04861)."""

    function = "mobilenet_v1_025"


def _depthwise_outputs(numbers: Mapping[int, int]) -> Mapping[int, str]:
    """Returns the depthwise outputs, which are expanded, of one layer of each stride."""
    return {stride: f"layer_{number}/depthwise_output" for stride, number in numbers.items()}


class MobilenetV2(SlimNetwork):
    """MobileNet version 2 (https://arxiv.org/abs/1801.04381)."""

    module, function = "mobilenet_v2", "mobilenet"
    arg_scope = "training_scope"
    decay_argument = "bn_decay"
    always_pools = True
    # The last block of each stride; layer_19 with its 1280 channels belongs to the classifier.
    feature_maps: ClassVar[Mapping[int, str]] = {
        2: "layer_2",
        4: "layer_4",
        8: "layer_7",
        16: "layer_14",
        32: "layer_18",
    }
    decoder_maps = _depthwise_outputs({4: 4, 8: 7, 16: 14})
    # The object detection API's ssd_mobilenet_v2_fpn_feature_extractor.py.
    pyramid_maps: ClassVar[Mapping[int, str]] = {32: "layer_19"}

    def base_arguments(self, output_stride: int) -> dict[str, Any]:
        last = self.feature_maps[32]
        return {"base_only": True, "final_endpoint": last, "output_stride": output_stride}

    def pyramid_arguments(self, final_endpoint: str, top_stride: int) -> dict[str, Any]:
        return {"base_only": True, "final_endpoint": final_endpoint}


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


class MobilenetV3Large(MobilenetV2):
    """MobileNet version 3, the large one (https://arxiv.org/abs/1905.02244)."""

    module, function = "mobilenet_v3", "large"
    feature_maps: ClassVar[Mapping[int, str]] = {
        **MobilenetV2.feature_maps,
        16: "layer_13",
        32: "layer_16",
    }
    pyramid_maps: ClassVar[Mapping[int, str]] = {}
    decoder_maps = _depthwise_outputs({4: 4, 8: 7, 16: 13})


class MobilenetV3Small(MobilenetV3Large):
    """MobileNet version 3, the small one (https://arxiv.org/abs/1905.02244)."""

    function = "small"
    feature_maps: ClassVar[Mapping[int, str]] = {
        2: "layer_1",
        4: "layer_2",
        8: "layer_4",
        16: "layer_9",
        32: "layer_12",
    }
    decoder_maps = _depthwise_outputs({4: 2, 8: 4, 16: 9})


class MobilenetV3LargeSeg(MobilenetV3Large):
    """The large one for segmentation: half the channels from the last stride on."""

    function = "large_seg"
    # DeepLab's pyramid takes the 1x1 convolution after the last block.
    feature_maps: ClassVar[Mapping[int, str]] = {**MobilenetV3Large.feature_maps, 32: "layer_17"}


class MobilenetV3SmallSeg(MobilenetV3Small):
    """The small one for segmentation: half the channels from the last stride on."""

    function = "small_seg"
    feature_maps: ClassVar[Mapping[int, str]] = {**MobilenetV3Small.feature_maps, 32: "layer_13"}


class MobilenetV3LargeMinimalistic(MobilenetV3Large):
    """The large one without squeeze-and-excitation, hard swish and 5x5 kernels."""

    function = "large_minimalistic"


class MobilenetV3SmallMinimalistic(MobilenetV3Small):
    """The small one without squeeze-and-excitation, hard swish and 5x5 kernels."""

    function = "small_minimalistic"
