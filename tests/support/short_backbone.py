"""MobileNetV2 with few of its blocks.

For tests of deeplab that do not depend on the length of its backbone: building and optimising the
graph of all blocks takes most of their time.
"""

from typing import Any

from tf_frame_vision.nets import mobilenet_v2
from tf_frame_vision.networks import MobilenetV2

# All kinds of blocks and strides, and the layer of deeplab's skip connection, stay.
_LAYERS = (1, 2, 3, 4, 5, 8, 15, 18)
_FEATURE_MAPS = {2: "layer_2", 4: "layer_4", 8: "layer_5", 16: "layer_6", 32: "layer_8"}


def shorten_backbone(patch: Any) -> None:
    """Leaves out blocks until the `pytest.MonkeyPatch` is undone."""
    spec = mobilenet_v2.V2_DEF["spec"]
    patch.setitem(mobilenet_v2.V2_DEF, "spec", [spec[layer - 1] for layer in _LAYERS])
    patch.setattr(MobilenetV2, "feature_maps", _FEATURE_MAPS)
