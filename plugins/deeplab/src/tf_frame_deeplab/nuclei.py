"""The input `nuclei`: one microscopy image, cut into tiles.

The default of the model `deeplab`: its sample lets a first run work without a download. With
data_dir it trains on one labelled image of your own.

    data_dir/image.png      grey or colour
    data_dir/instances.png  grey, same size; 0 is background, n is nucleus n
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

from tf_frame import DataReport, InputContext, InputInfo, Mode, option
from tf_frame.errors import ConfigError, DataError
from tf_frame.text import short
from tf_frame_deeplab.heads import HEADS, INSTANCES
from tf_frame_deeplab.inputs.semantic_input import SemanticInput
from tf_frame_vision.data_content import SplitContent, make_report
from tf_frame_vision.drawing.png import PngHeader, read_png
from tf_frame_vision.reading.folders import existing_folder
from tf_frame_vision.reading.pixels import load_mask

TILE_SIZE = 128
IGNORE_LABEL = 255
_FILES = ("image.png", "instances.png")
_SAMPLE = Path(__file__).parent / "data" / "nuclei"
_WHAT_TO_DO = (
    f"Put {_FILES[0]} and {_FILES[1]} there (one size, both sides multiples of {TILE_SIZE} pixels,"
    " at least two tiles), or leave --input.data_dir empty to use the sample that the plugin brings"
)


@dataclasses.dataclass(frozen=True)
class Params:
    """Options of the input."""

    data_dir: str = option("", "folder with image.png and instances.png; empty: the sample")
    crop_size: int = option(128, "height and width of a training crop, in pixels", min=16)
    min_scale_factor: float = option(0.75, "smallest random enlargement", min=0.1, max=10)
    max_scale_factor: float = option(1.25, "largest random enlargement", min=0.1, max=10)
    flip: bool = option(True, "whether to mirror and turn training crops at random")
    instances: bool = option(
        False, "also yield instances, heat maps of their centres, offsets to the centres, and edges"
    )
    center_sigma: float = option(
        4.0, "standard deviation of a centre's Gaussian in the heat map, in pixels", min=0.5
    )
    edge_width: int = option(
        3, "edges are where a square so wide, in pixels, is not all of one instance", min=3
    )


class Nuclei(SemanticInput):
    """Segmentation of cell nuclei against the background.

    The image is cut into tiles of 128 x 128 pixels, row by row; the first three
    quarters are for training, the last is for validation. Training takes random crops of scaled
    tiles; evaluation whole tiles, once, in order.
    """

    Params: ClassVar[type] = Params
    thread_safe_build: ClassVar[bool] = True
    label_names: ClassVar[Sequence[str]] = (*HEADS, INSTANCES)

    def __init__(self, *, params: Any, info: InputInfo | None = None) -> None:
        super().__init__(params=params)
        self.trained = info
        if not params.instances:
            self.label_names = ("semantic",)  # type: ignore[misc]
        if params.min_scale_factor > params.max_scale_factor:
            raise ConfigError(
                f"--input.min_scale_factor {params.min_scale_factor} is greater than"
                f" --input.max_scale_factor {params.max_scale_factor}; swap them"
            )
        if info is None:
            self._find(params.data_dir)

    def _find(self, data_dir: str) -> None:
        """Finds and checks the two files."""
        folder = _SAMPLE
        if data_dir:
            folder = existing_folder(data_dir, "--input.data_dir", _WHAT_TO_DO)
        self.image_path, self.instances_path = (folder / name for name in _FILES)
        header = _check_data(folder)
        self.columns = header.width // TILE_SIZE
        self.num_tiles = self.columns * (header.height // TILE_SIZE)

    @property
    def info(self) -> InputInfo:
        """Sizes of the splits, and the two classes."""
        if self.trained is not None:
            return self.trained
        validation = len(self.tiles(Mode.EVAL))
        return InputInfo(
            num_examples={
                Mode.TRAIN: len(self.tiles(Mode.TRAIN)),
                Mode.EVAL: validation,
                Mode.PREDICT: validation,
            },
            num_classes=2,
            class_names=("background", "nucleus"),
            ignore_label=IGNORE_LABEL,
        )

    def tiles(self, mode: Mode) -> range:
        """Returns the numbers of a split's tiles; predictions use the validation tiles."""
        num_training = self.num_tiles * 3 // 4
        return range(num_training) if mode == Mode.TRAIN else range(num_training, self.num_tiles)

    def dataset(self, mode: Mode, context: InputContext) -> Any:
        """Returns batches of `({"image": ...}, {"semantic": ...})`.

        Images are `[batch, height, width, 3]` float32, 0 to 255; labels `[batch,
        height, width]` int32, 255 where a crop reaches beyond its tile. With the option
        `instances` there are also the labels of `panoptic.targets.Targets`.
        """
        from tf_frame_deeplab.tiles import Tiles

        tiles = Tiles(
            image_path=str(self.image_path),
            instances_path=str(self.instances_path),
            columns=self.columns,
            size=TILE_SIZE,
            ignore_label=IGNORE_LABEL,
            targets=self._targets() if self.params.instances else None,
        )
        if mode == Mode.TRAIN:
            return tiles.training_dataset(self.tiles(mode), self.params, context)
        return tiles.validation_dataset(self.tiles(mode), context)

    def data_report(self) -> DataReport:
        """Returns the pixels of both classes in each split."""
        is_nucleus = load_mask(self.instances_path) > 0
        sizes = is_nucleus.shape[0] // TILE_SIZE, TILE_SIZE, self.columns, TILE_SIZE
        nucleus = is_nucleus.reshape(sizes).sum(axis=(1, 3)).ravel()
        modes = [mode for mode in (Mode.TRAIN, Mode.EVAL) if len(self.tiles(mode))]

        def content(tiles: range) -> SplitContent:
            count = int(nucleus[tiles.start : tiles.stop].sum())
            counts = {"background": len(tiles) * TILE_SIZE**2 - count, "nucleus": count}
            return SplitContent(
                counts=counts, sizes=[(TILE_SIZE, TILE_SIZE)], root=self.image_path.parent
            )

        return make_report(
            {mode: content(self.tiles(mode)) for mode in modes},
            examples={mode: len(self.tiles(mode)) for mode in modes},
            unit="pixels",
            class_names=self.info.class_names,
        )

    def _targets(self) -> Any:
        from tf_frame_deeplab.panoptic.targets import Targets

        return Targets(
            center_sigma=self.params.center_sigma,
            edge_width=self.params.edge_width,
            ignore_label=IGNORE_LABEL,
        )

    @property
    def serving_size(self) -> tuple[int, int]:
        """The size of a tile."""
        return TILE_SIZE, TILE_SIZE


def _check_data(folder: Path) -> PngHeader:
    if not any(folder.iterdir()):
        raise DataError(f"the data folder {short(folder)} is empty. {_WHAT_TO_DO}.")
    image, instances = (_check_file(folder / name) for name in _FILES)
    if not instances.is_grey:
        raise DataError(
            f"{folder / _FILES[1]} is in colour; it must be grey, 8 or 16 bits, where 0 is"
            " background and n is nucleus n. Convert it."
        )
    _check_size(folder, image, instances)
    return image


def _check_file(path: Path) -> PngHeader:
    if not path.is_file():
        raise DataError(f"{short(path)} is missing. {_WHAT_TO_DO}.")
    try:
        return read_png(path)
    except (OSError, ValueError) as error:
        raise DataError(
            f"{short(path)} is not a readable PNG: {error}. Copy or export it again."
        ) from None


def _check_size(folder: Path, image: PngHeader, instances: PngHeader) -> None:
    size = f"{image.height} x {image.width}"
    if (image.height, image.width) != (instances.height, instances.width):
        raise DataError(
            f"in {short(folder)} the image is {size} pixels but the instances are"
            f" {instances.height} x {instances.width}. {_WHAT_TO_DO}."
        )
    if image.height % TILE_SIZE or image.width % TILE_SIZE:
        raise DataError(f"{folder / _FILES[0]} is {size} pixels. {_WHAT_TO_DO}.")
    if image.height * image.width < 2 * TILE_SIZE**2:
        raise DataError(
            f"{folder / _FILES[0]} is {size} pixels, too small to be split. {_WHAT_TO_DO}."
        )
