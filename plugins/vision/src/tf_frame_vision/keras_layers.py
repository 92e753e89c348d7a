"""Layers of keras.applications that compute the same as slim's: values of Keras as variables.

    Keras                                     variables
    MobileNet      conv_dw_1, conv_pw_1_bn    MobilenetV1/Conv2d_1_depthwise, .../BatchNorm
    MobileNetV2    block_1_expand             MobilenetV2/expanded_conv_1/expand
    MobileNetV3    expanded_conv_1_expand     MobilenetV3/expanded_conv_1/expand
    VGG16, VGG19   block1_conv1, fc1          vgg_16/conv1/conv1_1, vgg_16/fc6

The kernel of a dense layer becomes the kernel of a convolution. The input channels of VGG's first
kernel are reversed: `keras.applications.vgg16.preprocess_input` makes BGR of RGB, the preprocessing
`vgg` here does not.

Keras's residual networks differ from slim's. Its ResNet has strides in the first convolution of a
block, its ResNetV2 pads the image before the first pooling.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from typing import Any

from tf_frame.errors import DataError

_WEIGHTS = {"kernel": "weights", "depthwise_kernel": "depthwise_weights", "bias": "biases"}
_NORMS = ("gamma", "beta", "moving_mean", "moving_variance")
_LOGITS = "Logits/Conv2d_1c_1x1"
_RESNET = re.compile(r"conv2_block1_1_conv|res2a_branch2a")
# Sides of the map that the first dense layer of VGG sees.
_VGG_SIDE = 7
_V2_PARTS = ("expand", "depthwise", "project")


@dataclasses.dataclass(frozen=True)
class _Family:
    """Networks with the same layers.

    Attributes:
      scope: variable scope.
      rules: a pattern of layers -> what it becomes below the scope; the first one counts.
      needed: layers that a file has to have.
    """

    scope: str
    rules: Mapping[str, str]
    needed: frozenset[str]

    def variable(self, layer: str, weight: str) -> str | None:
        """Returns the name of the variable for a weight; None if the layer is not of the family."""
        layer = layer.replace("/", "_").replace("BatchNorm", "bn")
        for pattern, replacement in self.rules.items():
            if match := re.fullmatch(pattern, layer):
                scope = f"{self.scope}/{match.expand(replacement)}"
                if weight in _NORMS:
                    return f"{scope}/BatchNorm/{weight}"
                name = _WEIGHTS.get(weight, weight)
                is_depthwise = scope.endswith("depthwise") and name == "weights"
                return f"{scope}/{'depthwise_' if is_depthwise else ''}{name}"
        return None


def _vgg(scope: str, repeats: Sequence[int]) -> _Family:
    layers = [f"block{b}_conv{n + 1}" for b, r in enumerate(repeats, 1) for n in range(r)]
    rules = {r"block(\d)_conv(\d)": r"conv\1/conv\1_\2", "fc1": "fc6", "fc2": "fc7"}
    return _Family(scope, {**rules, "predictions": "fc8"}, frozenset(layers))


_FAMILIES: Mapping[str, _Family] = {
    "mobilenet_v1": _Family(
        "MobilenetV1",
        {
            "conv1(_bn)?": "Conv2d_0",
            r"conv_dw_(\d+)(_bn)?": r"Conv2d_\1_depthwise",
            r"conv_pw_(\d+)(_bn)?": r"Conv2d_\1_pointwise",
            "conv_preds": _LOGITS,
        },
        frozenset({"conv1", *(f"conv_{k}_{n}" for k in ("dw", "pw") for n in range(1, 14))}),
    ),
    "mobilenet_v2": _Family(
        "MobilenetV2",
        {
            "Conv1|bn_Conv1": "Conv",
            "Conv_1(_bn)?": "Conv_1",
            r"expanded_conv_(depthwise|project)(_BN)?": r"expanded_conv/\1",
            r"block_(\d+)_(expand|depthwise|project)(_BN)?": r"expanded_conv_\1/\2",
            "predictions|Logits": _LOGITS,
        },
        frozenset(
            {"Conv1", "Conv_1", *(f"block_{n}_{p}" for n in range(1, 17) for p in _V2_PARTS)}
        ),
    ),
    "mobilenet_v3": _Family(
        "MobilenetV3",
        {
            "[Cc]onv(_bn)?": "Conv",
            r"[Cc]onv_(\d)(_bn)?": r"Conv_\1",
            r"expanded_conv((?:_\d+)?)_squeeze_excite_[Cc]onv((?:_1)?)": (
                r"expanded_conv\1/squeeze_excite/Conv\2"
            ),
            r"expanded_conv((?:_\d+)?)_(expand|depthwise|project)(_bn)?": r"expanded_conv\1/\2",
            "[Ll]ogits": _LOGITS,
        },
        frozenset(f"expanded_conv_{n}_{part}" for n in range(1, 11) for part in _V2_PARTS),
    ),
    "vgg_16": _vgg("vgg_16", (2, 2, 3, 3, 3)),
    "vgg_19": _vgg("vgg_19", (2, 2, 4, 4, 4)),
}


def keras_variables(module: str, function: str, values: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns variables of a network of `nets`; see `Network.from_keras`.

    Args:
      module, function: of the network.
      values: see there.
    """
    layers = {name.rpartition("/")[0].replace("/", "_") for name in values}
    if module.startswith("resnet") and any(map(_RESNET.fullmatch, layers)):
        raise DataError(
            "Keras's ResNet and ResNetV2 have strides or paddings elsewhere than slim's, so that "
            "no network here gives the same results with their values"
        )
    family = _FAMILIES.get(function) or _FAMILIES.get(module)
    if family is None or not family.needed <= layers:
        return {}
    if function == "vgg_16" and _FAMILIES["vgg_19"].needed <= layers:
        return {}
    variables = {}
    for path, value in values.items():
        layer, _, weight = path.rpartition("/")
        if name := family.variable(layer, weight):
            variables[name] = _converted(layer, value)
    return variables


def _converted(layer: str, value: Any) -> Any:
    if layer == "fc1" and value.ndim == 2:
        return value.reshape(_VGG_SIDE, _VGG_SIDE, -1, value.shape[-1])
    if value.ndim == 2:
        return value.reshape(1, 1, *value.shape)
    return value[:, :, ::-1] if layer == "block1_conv1" and value.ndim == 4 else value
