"""The converters `coco_json`, `voc_xml`, `dota`, `yolo` and `labelme`.

`tf-frame convert NAME` runs them. They read the data of the inputs of these names, and write
TFRecords that the input `detection_tfrecord` reads, and the object detection API as well. The same
command continues a conversion that was stopped.
"""

from __future__ import annotations

import dataclasses
import itertools
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

from tf_frame import Converter, option
from tf_frame.errors import DataError
from tf_frame.shell_text import shell_line
from tf_frame.tensorflow_log import quiet_import
from tf_frame.text import printable
from tf_frame_detection.inputs import coco_json, dota, labelme, voc_xml, yolo
from tf_frame_detection.inputs.annotated_images import INPUTS, AnnotatedFolder
from tf_frame_detection.inputs.annotations import FolderContent
from tf_frame_detection.inputs.checks import make_splits
from tf_frame_detection.inputs.label_map import FILE, label_map_lines
from tf_frame_detection.inputs.orientation import OrientationOptions
from tf_frame_detection.inputs.photographs import Photographs, collect, divide
from tf_frame_vision.convert.folders import check_apart, check_folder, examine_files
from tf_frame_vision.convert.options import (
    ConvertOptions,
    TestOptions,
    range_setting,
    without_prefix,
)
from tf_frame_vision.formats.coco_layout import CocoOptions
from tf_frame_vision.formats.labelme import LabelmeOptions
from tf_frame_vision.formats.look_alikes import naming_look_alikes
from tf_frame_vision.formats.yolo_layout import YoloOptions
from tf_frame_vision.reading.folders import FractionOptions


@dataclasses.dataclass(frozen=True)
class DetectionConvertOptions(OrientationOptions, FractionOptions, ConvertOptions):
    """Options of all converters of boxes."""

    # Values of options that only inputs have.
    eval_split: ClassVar[str] = "val"
    ignore_difficult: ClassVar[bool] = True


@dataclasses.dataclass(frozen=True)
class CocoConvertOptions(CocoOptions, DetectionConvertOptions):
    """Options for COCO's JSON files."""


@dataclasses.dataclass(frozen=True)
class VocOptions(voc_xml.VocFormOptions, DetectionConvertOptions):
    """Options for XML files."""


@dataclasses.dataclass(frozen=True)
class DotaOptions(voc_xml.FormOptions, DetectionConvertOptions):
    """Options for DOTA's text files."""


@dataclasses.dataclass(frozen=True)
class YoloConvertOptions(YoloOptions, DetectionConvertOptions):
    """Options for YOLO's text files."""

    rotated: ClassVar[bool] = False


@dataclasses.dataclass(frozen=True)
class LabelmeConvertOptions(LabelmeOptions, DetectionConvertOptions):
    """Options for labelme's JSON files."""

    rotated: bool = option(False, "also write corners, of shapes that have four")


# Format of a folder -> the command for it; converters have the names of inputs.
_CONVERTERS = {kind: f"tf-frame convert {words.split()[-1]}" for kind, words in INPUTS.items()}


class _Converter(Converter):
    """Base of the converters.

    Attributes:
      name: that of the input and of the converter.
      source: the input of the same data.
    """

    name: ClassVar[str]
    source: ClassVar[type[AnnotatedFolder]]

    def convert(self, source: str, output: str, report: Callable[[str], None]) -> None:
        """Writes `train-00000-of-00001` ... of each split, and label_map.pbtxt."""
        root, folder = (Path(path).expanduser() for path in (source, output))
        check_folder(root, "images and annotations")
        check_apart(root, folder)
        try:
            with naming_look_alikes(source, _CONVERTERS, self.source.formats):
                content = self.source.read_content(root, self.params)
            for note in (*content.splits.notes(uses_test=True), *content.notes):
                print(printable(note), file=sys.stderr, flush=True)
            parts = self._parts(root, content)
        except DataError as error:
            raise without_prefix(error) from None
        for split, photographs in parts.items():
            report(f"{split}: {self._write(root, content, photographs, folder, split)}")
        words = shell_line(["--input.data_dir", output])
        report(f"read them by --input detection_tfrecord {words}")

    def _parts(self, root: Path, source: FolderContent) -> dict[str, Photographs]:
        """Returns the checked photographs of each split."""
        training, evaluation = source.training, source.evaluation
        if evaluation is None:
            kept, held = divide(collect(root, training[0]), self.params.eval_fraction)
            training, evaluation = (kept, training[1]), (held, ())
        found = [("train", training), ("val", evaluation)]
        if source.splits.test:
            test = self.source.read_content(root, TestOptions(self.params)).evaluation
            found.append(("test", test or ((), ())))
        parts = {split: part for split, part in found if any(map(len, part))}
        splits = make_splits(root, list(parts.values()), self.params)
        for line in itertools.chain.from_iterable(split.damaged for split in splits):
            print(printable(f"left out: {line}"), file=sys.stderr, flush=True)
        if not parts:
            raise DataError("there is no photograph to convert")
        return {name: split.content for name, split in zip(parts, splits, strict=True)}

    def _write(
        self, root: Path, source: FolderContent, photographs: Photographs, output: Path, split: str
    ) -> str:
        """Writes the shards of a split, and returns the outcome."""
        with quiet_import():
            # Importing TensorFlow takes seconds.
            from tf_frame_detection.convert.examples import DetectionRecords, Picture
            from tf_frame_vision.convert.conversion import Conversion, convert
        started = time.monotonic()
        ids = source.ids or range(1, len(source.names) + 1)
        files = examine_files(root, [root / path for path in photographs.paths])
        conversion = Conversion(
            kind=self.name,
            fingerprint=files.digest,
            output=output,
            split=split,
            shards=self.params.shards,
            num_bytes=files.num_bytes,
            workers=self.params.workers,
            skip_corrupt=self.params.skip_corrupt,
            names_file=FILE,
            names=label_map_lines(ids, source.names),
            further={"boxes": photographs.digest(), **range_setting(self.params)},
        )
        records = DetectionRecords(ids, source.names, rotated=source.rotated, options=self.params)
        result = convert([Picture(one, root) for one in photographs], records, conversion)
        text = result.text(len(source.names))
        return f"{text}; {time.monotonic() - started:.1f} s; written to {output}"


class CocoJson(_Converter):
    """Images with COCO's JSON files of instances, as the input coco_json reads them."""

    Params: ClassVar[type] = CocoConvertOptions
    name, source = "coco_json", coco_json.CocoJson


class VocXml(_Converter):
    """Images with PASCAL VOC's XML files, as the input voc_xml reads them."""

    Params: ClassVar[type] = VocOptions
    name, source = "voc_xml", voc_xml.VocXml


class Dota(_Converter):
    """Images with DOTA's text files of rotated boxes, as the input dota reads them."""

    Params: ClassVar[type] = DotaOptions
    name, source = "dota", dota.Dota


class Yolo(_Converter):
    """Images with YOLO's text files, as the input yolo reads them."""

    Params: ClassVar[type] = YoloConvertOptions
    name, source = "yolo", yolo.Yolo


class Labelme(_Converter):
    """Images with labelme's JSON files, as the input labelme reads them."""

    Params: ClassVar[type] = LabelmeConvertOptions
    name, source = "labelme", labelme.Labelme
