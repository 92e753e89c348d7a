"""Writer of predicted instances, for `tf-frame predict` with the heads for instances.

In addition to the files of `tf_frame_deeplab.prediction_files`:

    DIR/instances/NAME.png          number of the instance of each pixel, 0 for none: grey, 16 bits,
                                    as the input `nuclei` reads it
    DIR/instance_overlays/NAME.png  the image with each instance in a colour of its own
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tf_frame_deeplab.heads import INSTANCES
from tf_frame_deeplab.prediction_files import (
    LabelsAndOverlays,
    Painting,
    at_original_size,
    original_picture,
)
from tf_frame_vision.drawing.palette import overlay, palette

_OVERLAYS = "instance_overlays"


class InstanceFiles(LabelsAndOverlays):
    """Writes labels, instances and overlays of both.

    Args:
      directory: the folder; the writer makes its folders.
      painting: colours and ids of the classes.
    """

    predict_keys = (*LabelsAndOverlays.predict_keys, INSTANCES)

    def __init__(self, directory: str, painting: Painting) -> None:
        super().__init__(directory, painting)
        for kind in (INSTANCES, _OVERLAYS):
            self._folder(kind).mkdir(exist_ok=True)

    def __call__(self, name: str, features: Mapping[str, Any], prediction: Any) -> None:
        """Writes the files of an example.

        Args:
          name: name of the files, without the ending.
          features: see `LabelsAndOverlays`.
          prediction: `semantic` and `instances`, `[height, width]`.
        """
        super().__call__(name, features, prediction)
        instances = at_original_size(prediction[INSTANCES], features)
        colours = palette(int(instances.max()) + 1, background=True)
        self._write(INSTANCES, name, instances.astype(np.uint16))
        self._write(_OVERLAYS, name, overlay(original_picture(features), instances, colours))
