"""The input `trees`: 38 aerial photographs of forest with 354 boxes of tree crowns.

The default of `ssd` and `retinanet`: its sample lets a first run work without a download. With
data_dir it trains on photographs of your own in the same form.

data_dir/boxes.csv   file,source,xmin,ymin,xmax,ymax,label: a line for each box, in pixels
data_dir/00.jpg ...  the photographs
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

from tf_frame import option
from tf_frame.errors import DataError
from tf_frame.text import short
from tf_frame.text_file import read_csv
from tf_frame_detection.inputs.annotated_images import AnnotatedFolder, AnnotatedOptions
from tf_frame_detection.inputs.annotations import Marked, Photograph
from tf_frame_vision.example_input import IMAGE_SUFFIXES
from tf_frame_vision.formats.record_fields import RecordError, parse_numbers
from tf_frame_vision.reading.folders import existing_folder, visible
from tf_frame_vision.reading.inside import inside

_SAMPLE = Path(__file__).parents[1] / "data" / "trees"
_FILE = "boxes.csv"
_COLUMNS = ["file", "source", "xmin", "ymin", "xmax", "ymax", "label"]
_PLOT, _NUMBER = "plot", "number"
_TRAINING_PLOT = "YELL"


@dataclasses.dataclass(frozen=True)
class Params(AnnotatedOptions):
    """Options of the input."""

    data_dir: str = option("", "folder with boxes.csv and its photographs; empty: the sample")
    divide_by: str = option(
        _NUMBER,
        "number: every fourth photograph validates, and may overlap one of training a little; plot:"
        f" the plot {_TRAINING_PLOT} trains, the others validate, which is harder",
        choices=(_NUMBER, _PLOT),
    )
    image_size: tuple[int, ...] = option(
        (200,), "pixels to which photographs are resized: HEIGHT,WIDTH, or one number", min=16
    )
    data_augmentation: tuple[str, ...] = option(
        (
            "random_horizontal_flip",
            "random_vertical_flip",
            "random_rotation90",
            "random_adjust_brightness:max_delta=0.1",
            "random_adjust_contrast",
            "random_adjust_saturation",
            "random_scale_crop_and_pad_to_square:output_size=200:scale_min=0.8:scale_max=1.3",
        ),
        "random changes of training photographs, in this order: NAME:KEY=VALUE:...",
    )


class Trees(AnnotatedFolder):
    """Photographs of forest; all labels are one class, Tree.

    Photograph n, counted from 0 by name, validates where n mod 4 is 3.
    """

    Params: ClassVar[type] = Params

    def find(self) -> None:
        what_to_do = f"Give the folder of {_FILE}, or leave it empty to use the sample"
        self.root = existing_folder(self.params.data_dir or _SAMPLE, "--input.data_dir", what_to_do)
        photographs, plots, problems = _read(self.root, allow_outside=self.params.allow_outside)
        if self.params.divide_by == _PLOT:
            trains = [_TRAINING_PLOT in plot for plot in plots]
        else:
            trains = [number % 4 != 3 for number in range(len(photographs))]
        training, validation = (
            [
                one
                for one, trained in zip(photographs, trains, strict=True)
                if trained == for_training
            ]
            for for_training in (True, False)
        )
        self.use(("Tree",), (training, problems), (validation, ()))


def _read(
    folder: Path, *, allow_outside: bool
) -> tuple[Sequence[Photograph], list[str], list[str]]:
    """Returns the photographs by name, the plot of each, and a line for each fault."""
    path = folder / _FILE
    rows = read_csv(path)
    if not rows or rows[0] != _COLUMNS:
        raise DataError(f"{short(path)} does not begin with the line {','.join(_COLUMNS)}")
    names = visible(folder, folders=False)
    files = {name for name in names if name.lower().endswith(IMAGE_SUFFIXES)}
    marks: dict[str, list[Marked]] = {name: [] for name in files}
    plots: dict[str, str] = {}
    problems = []
    for line, row in enumerate(rows[1:], 2):
        if not row:
            continue
        try:
            mark = _mark(row, f"line {line}")
        except RecordError as error:
            problems.append(f"{path}, line {line}: {error}")
            continue
        marks.setdefault(row[0], []).append(mark)
        plots[row[0]] = row[1]
    photographs = [
        Photograph(
            inside(folder, name, allow_outside=allow_outside, source=path), str(path), marks[name]
        )
        for name in sorted(marks)
    ]
    return photographs, [plots.get(name, "") for name in sorted(marks)], problems


def _mark(row: Sequence[str], record: str) -> Marked:
    if len(row) != len(_COLUMNS):
        raise RecordError(f"it has {len(row)} fields instead of {len(_COLUMNS)}")
    left, upper, right, lower = parse_numbers(list[Any](row[2:6]), 4, "its box")
    return Marked((upper, left, lower, right), 0, record)
