"""Writer of predicted classes as PNG files, for `tf-frame predict` with the model `deeplab`.

Labels are for programs, overlays are for people.

    DIR/labels/NAME.png    the class of each pixel, with a palette for viewers of images
    DIR/overlays/NAME.png  the image under the colours of the classes, above names of the colours
    DIR/raw/NAME.png       with `--model.also_save_raw_predictions`: the data set's own ids, grey
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tf_frame import InputInfo
from tf_frame_deeplab.datasets.colormaps import COLORMAPS
from tf_frame_deeplab.evaluation_options import EvaluationParams
from tf_frame_vision.drawing.own_picture import file_picture, resized
from tf_frame_vision.drawing.palette import Pixels, has_background, overlay, palette
from tf_frame_vision.drawing.png import write_png
from tf_frame_vision.drawing.text import with_legend

_MAX_PALETTE = 256


@dataclasses.dataclass(frozen=True, kw_only=True)
class Painting:
    """Colours and ids of the classes in files of predictions.

    Attributes:
      num_classes: number of classes.
      class_names: names of the classes, or none; a class 0 called background stays unpainted.
      colours: red, green and blue of each class; empty: tf-frame's own colours.
      writes_raw: whether there are files of ids.
      class_ids: the data set's own id of each class; empty: the numbers of the classes.
    """

    num_classes: int
    class_names: Sequence[str] = ()
    colours: Sequence[Sequence[int]] = ()
    writes_raw: bool = False
    class_ids: Sequence[int] = ()

    @classmethod
    def from_options(cls, params: EvaluationParams, info: InputInfo) -> Painting:
        """Makes the painting of a model.

        Args:
          params: colour map, and whether there are files of ids.
          info: number, names, colours and ids of the classes.
        """
        assert info.num_classes, "the model checks it"
        colours = COLORMAPS.get(params.colormap_type, info.class_colours)
        return cls(
            num_classes=info.num_classes,
            class_names=tuple(info.class_names),
            colours=tuple(colours[: info.num_classes]),
            writes_raw=params.also_save_raw_predictions,
            class_ids=tuple(info.class_ids),
        )

    @property
    def palette(self) -> Pixels:
        """The colour of each class, `[num_classes, 3]`."""
        if self.colours:
            return np.array(self.colours, np.uint8)
        return palette(self.num_classes, background=has_background(self.class_names))

    @property
    def overlay_palette(self) -> Pixels:
        """The palette with black for the background; black is not painted."""
        colours = self.palette
        if self.class_names and has_background(self.class_names):
            colours[0] = 0
        return colours

    def ids(self, classes: Any) -> Any:
        """Returns the data set's own ids of classes, uint8 or, where that is too small, uint16."""
        ids = np.array(self.class_ids or range(self.num_classes))
        return ids.astype(np.uint8 if ids.max() < _MAX_PALETTE else np.uint16)[classes]


class LabelsAndOverlays:
    """Writes the labels and the overlay of an example.

    Labels are 8-bit PNGs with a palette, indexed by class. With more than 256 classes they are
    grey, 16 bits, without palette.

    Args:
      directory: the folder; the writer makes its folders.
      painting: colours and ids.
    """

    predict_keys: Sequence[str] = ("semantic",)

    def __init__(self, directory: str, painting: Painting) -> None:
        self._directory, self._painting = Path(directory), painting
        for kind in ("labels", "overlays", *(["raw"] if painting.writes_raw else [])):
            self._folder(kind).mkdir(parents=True, exist_ok=True)
        self._colours, self._overlay_colours = painting.palette, painting.overlay_palette

    def __call__(self, name: str, features: Mapping[str, Any], prediction: Any) -> None:
        """Writes the files of an example.

        Args:
          name: name of the files, without the ending.
          features: `image`, `[height, width, 3]`, 0 to 255; perhaps `original_size` and `name`,
            the size and the path of the file, which the files then have the size of.
          prediction: `semantic`, `[height, width]`.
        """
        classes = at_original_size(prediction["semantic"], features)
        if len(self._colours) > _MAX_PALETTE:
            self._write("labels", name, classes.astype(np.uint16))
        else:
            self._write("labels", name, classes.astype(np.uint8), colours=self._colours)
        painted = overlay(original_picture(features), classes, self._overlay_colours)
        self._write("overlays", name, with_legend(painted, self._legend(classes)))
        if self._painting.writes_raw:
            self._write("raw", name, self._painting.ids(classes))

    def describe(self, name: str, features: Mapping[str, Any], prediction: Any) -> list[str]:
        """Returns the share of each class that occurs, the largest first, and the overlay's path.

        Args:
          name, features, prediction: see `__call__`.
        """
        del features
        names = dict(enumerate(self._painting.class_names))
        numbers, counts = np.unique(prediction["semantic"], return_counts=True)
        shares = zip(counts / counts.sum(), numbers.tolist(), strict=True)
        lines = [
            f"{share:6.1%}  {names.get(number, f'class {number}')}"
            for share, number in sorted(shares, reverse=True)
        ]
        return [*lines, f"drawn in {self._path('overlays', name)}"]

    def _legend(self, classes: Any) -> list[tuple[str, Any]]:
        """Returns name and colour of each painted class."""
        names = dict(enumerate(self._painting.class_names))
        colours = self._overlay_colours
        painted = [number for number in np.unique(classes) if colours[number].any()]
        return [(names.get(number, str(number)), colours[number]) for number in painted]

    def _folder(self, kind: str) -> Path:
        return self._directory / kind

    def _write(self, kind: str, name: str, pixels: Any, *, colours: Any = None) -> None:
        write_png(self._path(kind, name), pixels, colours=colours)

    def _path(self, kind: str, name: str) -> Path:
        return self._folder(kind) / f"{name}.png"


def at_original_size(classes: Any, features: Mapping[str, Any]) -> Any:
    """Returns the classes or instances of pixels at the size of the file: the nearest pixel's.

    Args:
      classes: `[height, width]`, of the image that the network saw.
      features: see `LabelsAndOverlays`.
    """
    size = features.get("original_size", classes.shape)
    rows, columns = (
        (2 * np.arange(own) + 1) * seen // (2 * own)
        for own, seen in zip(size, classes.shape, strict=True)
    )
    return classes[rows][:, columns]


def original_picture(features: Mapping[str, Any]) -> Pixels:
    """Returns the image of the file, or else the network's image at that size, as uint8."""
    image = features["image"]
    size = tuple(features.get("original_size", image.shape[:2]))
    # Read again only if the network saw another image.
    pixels = file_picture(features["name"]) if size != image.shape[:2] else None
    return pixels if pixels is not None and pixels.shape[:2] == size else resized(image, size)
