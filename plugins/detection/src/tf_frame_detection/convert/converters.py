"""The converters `coco_json`, `voc_xml`, `dota`, `yolo` and `labelme`.

`tf-frame convert NAME` runs them. They read the data of the inputs of these names, and write
TFRecords that the input `detection_tfrecord` reads, and the object detection API as well. The same
command continues a conversion that was stopped.
"""

from __future__ import annotations

import dataclasses
import itertools
import shlex
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar

from tf_frame import Converter, option
from tf_frame.errors import DataError
from tf_frame.tensorflow_log import quiet_import
from tf_frame.text import printable
from tf_frame_detection.inputs import coco_json, dota, labelme, voc_xml, yolo
from tf_frame_detection.inputs.annotated_images import INPUTS
from tf_frame_detection.inputs.annotations import FolderContent, Part
from tf_frame_detection.inputs.checks import OrientationOptions, make_splits
from tf_frame_detection.inputs.label_map import FILE, label_map_lines
from tf_frame_detection.inputs.photographs import Photographs, collect, divide
from tf_frame_vision.convert.folders import check_apart, check_folder, fingerprint
from tf_frame_vision.convert.options import ConvertOptions, range_setting
from tf_frame_vision.formats.labelme import LabelmeOptions, read_labelme
from tf_frame_vision.formats.look_alikes import naming_look_alikes
from tf_frame_vision.formats.yolo import read_yolo
from tf_frame_vision.formats.yolo_labels import OBB
from tf_frame_vision.formats.yolo_layout import YoloOptions


@dataclasses.dataclass(frozen=True)
class DetectionConvertOptions(OrientationOptions, ConvertOptions):
    """Options of all converters of boxes."""

    eval_fraction: float = option(
        0.1,
        "part of the images that becomes val, where nothing else says which; 0: none",
        min=0.0,
        max=0.9,
    )


@dataclasses.dataclass(frozen=True)
class CocoOptions(coco_json.FormOptions, DetectionConvertOptions):
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


@dataclasses.dataclass(frozen=True)
class LabelmeConvertOptions(LabelmeOptions, DetectionConvertOptions):
    """Options for labelme's JSON files."""

    rotated: bool = option(False, "also write corners, of shapes that have four")


@dataclasses.dataclass(frozen=True)
class Source:
    """Classes and photographs of a data set to convert.

    Attributes:
      names, ids: the classes.
      training, evaluation: photographs; None: `eval_fraction` of the others.
    """

    names: Sequence[str]
    ids: Sequence[int]
    training: Part
    evaluation: Part | None


def _source(content: FolderContent) -> Source:
    ids = range(1, len(content.names) + 1)
    return Source(content.names, ids, content.training, content.evaluation)


# Format of a folder -> the command for it; converters have the names of inputs.
_CONVERTERS = {kind: words.replace("--input", "tf-frame convert") for kind, words in INPUTS.items()}


class _Converter(Converter):
    """Base of the converters; a subclass reads its source."""

    name: ClassVar[str]
    formats: ClassVar[Sequence[str]]
    rotated: bool = False

    def read(self, folder: Path) -> Source:
        """Finds the photographs.

        Raises:
          DataError: the source is missing or broken.
        """
        raise NotImplementedError(f"{type(self).__name__} does not define read()")

    def convert(self, source: str, output: str, report: Callable[[str], None]) -> None:
        """Writes `train-00000-of-00004` ... of each split, and label_map.pbtxt."""
        root, folder = (Path(path).expanduser() for path in (source, output))
        check_folder(root, "images and annotations")
        check_apart(root, folder)
        try:
            with naming_look_alikes(source, _CONVERTERS, self.formats):
                content = self.read(root)
            parts = self._parts(root, content)
        except DataError as error:
            # The options of an input have this prefix; those of a converter have none.
            raise DataError(str(error).replace("--input.", "--")) from None
        for split, photographs in parts.items():
            started = time.monotonic()
            shards = self.params.shards
            shards = shards if split == "train" else min(shards, len(photographs))
            settings = self._settings(root, content, photographs)
            result = self._write(content, root, photographs, settings, folder, split, shards)
            text = result.text(len(content.names), shards)
            report(f"{split}: {text}; {time.monotonic() - started:.1f} s; written to {output}")
        words = shlex.join(["--input.data_dir", output])
        report(f"read them by --input detection_tfrecord {words}")

    def _parts(self, root: Path, source: Source) -> dict[str, Photographs]:
        """Returns the checked photographs of each split."""
        training, evaluation = source.training, source.evaluation
        if evaluation is None:
            kept, held = divide(collect(root, training[0]), self.params.eval_fraction)
            training, evaluation = (kept, training[1]), (held, ())
        parts = {
            split: part
            for split, part in (("train", training), ("val", evaluation))
            if any(map(len, part))
        }
        splits = make_splits(root, list(parts.values()), self.params)
        for line in itertools.chain.from_iterable(split.damaged for split in splits):
            print(printable(f"left out: {line}"), file=sys.stderr, flush=True)
        if not parts:
            raise DataError("there is no photograph to convert")
        return {name: split.content for name, split in zip(parts, splits, strict=True)}

    def _settings(self, root: Path, source: Source, photographs: Photographs) -> dict[str, Any]:
        return {
            "kind": self.name,
            "fingerprint": fingerprint(root, [photograph.path for photograph in photographs]),
            "workers": self.params.workers,
            "skip_corrupt": self.params.skip_corrupt,
            "names_file": FILE,
            "names": label_map_lines(source.ids, source.names),
            "further": {"boxes": photographs.digest(), **range_setting(self.params)},
        }

    def _write(
        self,
        source: Source,
        root: Path,
        photographs: Photographs,
        settings: dict[str, Any],
        output: Path,
        split: str,
        shards: int,
    ) -> Any:
        with quiet_import():
            # Importing TensorFlow takes seconds.
            from tf_frame_detection.convert.examples import DetectionRecords, Picture
            from tf_frame_vision.convert.conversion import Conversion, convert
        pictures = [Picture(photograph, root) for photograph in photographs]
        records = DetectionRecords(
            source.ids, source.names, rotated=self.rotated, options=self.params
        )
        conversion = Conversion(**settings, output=output, split=split, shards=shards)
        return convert(pictures, records, conversion)


class CocoJson(_Converter):
    """Images with COCO's JSON files of instances, as the input coco_json reads them."""

    Params: ClassVar[type] = CocoOptions
    name = "coco_json"
    formats = coco_json.CocoJson.formats

    def read(self, folder: Path) -> Source:
        content = coco_json.read_coco(
            folder, self.params, eval_split="val", outside=self.params.allow_outside
        )
        evaluation = content.parts[1] if len(content.parts) > 1 else None
        return Source(content.names, content.ids, content.parts[0], evaluation)


class VocXml(_Converter):
    """Images with PASCAL VOC's XML files, as the input voc_xml reads them."""

    Params: ClassVar[type] = VocOptions
    name = "voc_xml"
    formats = voc_xml.VocXml.formats

    def read(self, folder: Path) -> Source:
        return _source(voc_xml.read_voc(folder, self.params, ignore_difficult=True))


class Dota(_Converter):
    """Images with DOTA's text files of rotated boxes, as the input dota reads them."""

    Params: ClassVar[type] = DotaOptions
    name = "dota"
    formats = dota.Dota.formats
    rotated = True

    def read(self, folder: Path) -> Source:
        return _source(dota.read_dota(folder, self.params, ignore_difficult=True))


class Yolo(_Converter):
    """Images with YOLO's text files, as the input yolo reads them."""

    Params: ClassVar[type] = YoloConvertOptions
    name = "yolo"
    formats = yolo.Yolo.formats

    def read(self, folder: Path) -> Source:
        data = read_yolo(folder, self.params, eval_split="val", outside=self.params.allow_outside)
        self.rotated = data.form == OBB
        return Source(data.names, range(1, len(data.names) + 1), *yolo.yolo_parts(folder, data))


class Labelme(_Converter):
    """Images with labelme's JSON files, as the input labelme reads them."""

    Params: ClassVar[type] = LabelmeConvertOptions
    name = "labelme"
    formats = labelme.Labelme.formats

    def read(self, folder: Path) -> Source:
        data = read_labelme(
            folder, self.params, eval_split="val", outside=self.params.allow_outside
        )
        self.rotated = self.params.rotated
        parts = labelme.labelme_parts(data, rotated=self.rotated)
        return Source(data.names, range(1, len(data.names) + 1), *parts)
