"""Writer of predicted instances, for `tf-frame predict` with the heads for instances.

Beside the files of `tf_frame_deeplab.prediction_files`:

DIR/instances/NAME.png          number of the instance of each pixel, 0 for none: grey, 16 bits, a
                                form that the input `nuclei` reads
DIR/instance_overlays/NAME.png  the image with each instance in a colour of its own
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tf_frame_deeplab.heads import INSTANCES
from tf_frame_deeplab.prediction_files import LabelsAndOverlays
from tf_frame_vision.drawing.palette import overlay, palette
from tf_frame_vision.drawing.png import write_png


class InstanceFiles(LabelsAndOverlays):
    """Writes labels, instances and overlays of both.

    Args:
      directory: the folder; its four folders are made.
      num_classes: number of classes.
      class_names: their names, or none.
    """

    predict_keys = (*LabelsAndOverlays.predict_keys, INSTANCES)

    def __init__(self, directory: str, *, num_classes: int, class_names: Sequence[str]) -> None:
        super().__init__(directory, num_classes=num_classes, class_names=class_names)
        parent = self._folders[0].parent
        self._instances, self._instance_overlays = parent / INSTANCES, parent / "instance_overlays"
        for folder in (self._instances, self._instance_overlays):
            folder.mkdir(exist_ok=True)

    def __call__(self, name: str, features: Mapping[str, Any], prediction: Any) -> None:
        """Writes the files of an example.

        Args:
          name: name of the files, without the ending.
          features: `image`, `[height, width, 3]`, 0 to 255.
          prediction: `semantic` and `instances`, `[height, width]`.
        """
        super().__call__(name, features, prediction)
        instances = prediction[INSTANCES]
        image = np.clip(np.round(features["image"]), 0, 255).astype(np.uint8)
        colours = palette(int(instances.max()) + 1, background=True)
        write_png(self._instances / f"{name}.png", instances.astype(np.uint16))
        write_png(self._instance_overlays / f"{name}.png", overlay(image, instances, colours))
