"""The input `nuclei_boxes`: boxes around cell nuclei of one microscopy image, cut into tiles.

The default of `rotated_retinanet`. The boxes are derived from real masks: a rotated one lies along
the principal axis of a nucleus' pixels, an upright one is as large as the nucleus.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from tf_frame import DataReport, InputContext, InputInfo, Mode, option
from tf_frame.errors import ConfigError
from tf_frame_detection.inputs.detection_input import UPRIGHT_LABELS, DetectionInput, SizeOptions
from tf_frame_detection.inputs.nuclei_grid import COLUMNS, ROWS, TILE_SIZE, TRAINING_ROWS
from tf_frame_vision.data_content import SplitContent, make_report
from tf_frame_vision.reading.pixels import load_mask

_SAMPLE = Path(__file__).parents[1] / "data" / "nuclei"


@dataclasses.dataclass(frozen=True)
class Params(SizeOptions):
    """Options of the input."""

    rotated: bool = option(False, "also yield rotated boxes")
    augment: bool = option(True, "whether training tiles are varied at random")
    unresampled: float = option(
        0.4,
        "share of training tiles that are only shifted by whole pixels, mirrored and turned by"
        " quarters, so that the noise of pixels is that of validation",
        min=0.0,
        max=1.0,
    )
    min_scale_factor: float = option(0.8, "smallest random enlargement", min=0.1, max=10)
    max_scale_factor: float = option(1.25, "largest random enlargement", min=0.1, max=10)
    intensity: float = option(
        0.2, "largest random change of brightness: a factor from 1 - it to 1 + it", min=0.0, max=0.9
    )


class NucleiBoxes(DetectionInput):
    """Tiles of 128 x 128 pixels, row by row; the first twelve train, the last four validate.

    Training takes windows around the tiles, shifted, turned by any angle, mirrored and scaled;
    evaluation whole tiles. Nuclei that are cut by the edge are ignored.
    """

    Params: ClassVar[type] = Params
    thread_safe_build: ClassVar[bool] = True

    def __init__(self, *, params: Any, info: InputInfo | None = None) -> None:
        super().__init__(params=params)
        self.trained = info
        self.class_names = ("Nucleus",)
        if not params.rotated:
            self.label_names = UPRIGHT_LABELS  # type: ignore[misc]
        if params.min_scale_factor > params.max_scale_factor:
            raise ConfigError(
                f"--input.min_scale_factor {params.min_scale_factor} is greater than"
                f" --input.max_scale_factor {params.max_scale_factor}; swap them"
            )

    @property
    def num_examples(self) -> Mapping[Mode, int]:
        training = TRAINING_ROWS * COLUMNS
        validation = ROWS * COLUMNS - training
        return {Mode.TRAIN: training, Mode.EVAL: validation, Mode.PREDICT: validation}

    def data_report(self) -> DataReport:
        """Returns the number of nuclei in each split; one on the border of two counts in both."""
        instances = load_mask(_SAMPLE / "instances.png")
        border = TRAINING_ROWS * TILE_SIZE
        parts = {Mode.TRAIN: instances[:border], Mode.EVAL: instances[border:]}
        return make_report(
            {
                mode: SplitContent(
                    counts={"Nucleus": len(np.unique(part[part > 0]))},
                    sizes=[(TILE_SIZE, TILE_SIZE)],
                    root=_SAMPLE,
                )
                for mode, part in parts.items()
            },
            examples={mode: self.num_examples[mode] for mode in parts},
            unit="objects",
            class_names=self.class_names,
        )

    @property
    def size(self) -> tuple[int, int] | None:
        """None: tiles stay as they are, and so do photographs to predict on."""
        return None

    def dataset(self, mode: Mode, context: InputContext) -> Any:
        """Returns batches of the features and labels of `detection_input`."""
        from tf_frame_detection.inputs.nuclei_tiles import training_tiles, validation_tiles

        folder = str(_SAMPLE)
        if mode == Mode.TRAIN:
            return training_tiles(folder, self.params, context, self.padded)
        return validation_tiles(folder, self.params, context, self.padded)
