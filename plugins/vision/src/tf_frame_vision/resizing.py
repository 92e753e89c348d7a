"""The option that says where pixels lie when images are resized; imports no TensorFlow.

Published models were trained and evaluated on images that TensorFlow 1 resized. With other places
of the pixels, their images are shifted by up to half a pixel, and their answers differ.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from tf_frame import option

HALF_PIXEL, LEGACY, ALIGN_CORNERS = "half_pixel", "legacy", "align_corners"
# The arguments of TensorFlow's operations. Sources in tensorflow/models: LEGACY,
# research/object_detection/core/preprocessor.py, `resize_image`, and research/slim/preprocessing;
# ALIGN_CORNERS, research/deeplab/core/preprocess_utils.py, `resize_to_range`.
PLACES: Mapping[str, Mapping[str, bool]] = {
    HALF_PIXEL: {"align_corners": False, "half_pixel_centers": True},
    LEGACY: {"align_corners": False, "half_pixel_centers": False},
    ALIGN_CORNERS: {"align_corners": True, "half_pixel_centers": False},
}


@dataclasses.dataclass(frozen=True)
class ResizingOptions:
    """The option of inputs that resize images."""

    resizing: str = option(
        HALF_PIXEL,
        "where pixels lie when images are resized. half_pixel: their outer edges stay the edges; "
        "legacy: as TensorFlow 1 does, for weights of the object detection API; align_corners: "
        "as DeepLab does. Models propose what their published weights need",
        choices=tuple(PLACES),
    )
