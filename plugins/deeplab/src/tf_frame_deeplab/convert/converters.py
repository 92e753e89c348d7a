"""The converters of images with masks, or with objects that are drawn as masks.

`tf-frame convert NAME` runs them. They write TFRecords with DeepLab's keys, which the input
`segmentation_tfrecord` reads, and DeepLab's own programs as well. The same command continues a
conversion that was stopped.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from tf_frame import Converter
from tf_frame.errors import DataError
from tf_frame.shell_text import shell_line
from tf_frame.tensorflow_log import quiet_import
from tf_frame.text import printable
from tf_frame_deeplab.convert.drawn import read_drawn
from tf_frame_deeplab.convert.options import (
    CityscapesOptions,
    CocoMasksOptions,
    FolderOptions,
    LabelmeMasksOptions,
    PublishedOptions,
    YoloMasksOptions,
    check_splits,
)
from tf_frame_deeplab.convert.source import MaskedPicture, Source, digest, overlaps
from tf_frame_deeplab.inputs import coco_masks, labelme_masks, yolo_masks
from tf_frame_deeplab.inputs.drawn_masks import DrawnMasks
from tf_frame_vision.convert.folders import check_apart, check_folder, examine_files
from tf_frame_vision.convert.options import range_setting, without_prefix

if TYPE_CHECKING:
    pass


class _Converter(Converter):
    """Base of the converters; a subclass reads its source."""

    Params: ClassVar[type] = PublishedOptions
    name: ClassVar[str]
    # The classes of a known data set need no file.
    is_known: ClassVar[bool] = True
    # Options that a rerun must repeat, because the masks depend on them.
    repeated: ClassVar[Sequence[str]] = ()

    def read(self, source: Path) -> Source:
        """Lists the pictures.

        Raises:
          DataError: the source is missing or incomplete.
        """
        raise NotImplementedError(f"{type(self).__name__} does not define read()")

    def convert(self, source: str, output: str, report: Callable[[str], None]) -> None:
        """Writes `train-00000-of-00001` ... of each split, and `train.conversion.json`."""
        root, folder = (Path(path).expanduser() for path in (source, output))
        check_folder(root, "images and masks")
        check_apart(root, folder)
        check_splits(getattr(self.params, "split", ("train", "val")))
        data = self.read(root)
        for line in overlaps(data.parts):
            print(printable(f"warning: {line}"), file=sys.stderr, flush=True)
        for split, pictures in data.parts.items():
            outcome = self._write(root, data, pictures, output=folder, split=split)
            report(f"{split}: {outcome}; written to {output}")
        report(f"read them by --input segmentation_tfrecord {self._reading_options(data, output)}")

    def _reading_options(self, source: Source, output: str) -> str:
        """Returns the options of the input that reads the records."""
        words = ["--input.data_dir", output]
        if self.is_known:
            words += ["--input.dataset", self.name]
        elif source.ignore_label != FolderOptions.ignore_label:
            words += ["--input.ignore_label", str(source.ignore_label)]
        return shell_line(words)

    def _write(
        self, root: Path, source: Source, pictures: Sequence[MaskedPicture], **target: Any
    ) -> str:
        """Writes the shards of a split, and returns the outcome."""
        with quiet_import():
            # Importing TensorFlow takes seconds.
            from tf_frame_deeplab.convert.examples import SegmentationRecords
            from tf_frame_vision.convert.conversion import Conversion, convert
        started, pairs = time.monotonic(), [picture.pair for picture in pictures]
        files = examine_files(root, [path for pair in pairs for path in (pair.image, pair.mask)])
        conversion = Conversion(
            kind=self.name,
            fingerprint=files.digest,
            shards=self.params.shards,
            num_bytes=files.num_bytes,
            workers=self.params.workers,
            skip_corrupt=self.params.skip_corrupt,
            names_file="" if self.is_known else "classes.txt",
            names=() if self.is_known else source.class_lines,
            further={
                **range_setting(self.params),
                "ignore_label": source.ignore_label,
                "classes": digest({picture.meaning for picture in pictures}),
                **{name: getattr(self.params, name) for name in self.repeated},
            },
            **target,
        )
        result = convert(pictures, SegmentationRecords(self.params), conversion)
        text = result.text(len(source.class_lines))
        return f"{text}; {time.monotonic() - started:.1f} s"


class Folder(_Converter):
    """A folder of images and masks, as the input segmentation_folder reads it."""

    Params: ClassVar[type] = FolderOptions
    name = "segmentation_folder"
    is_known = False

    def read(self, source: Path) -> Source:
        from tf_frame_deeplab.convert.folder import read_folder

        return read_folder(source, self.params, ignore_label=self.params.ignore_label)


class Voc(_Converter):
    """PASCAL VOC 2012, with the masks of SBD if they are there as PNG."""

    name = "voc"

    def read(self, source: Path) -> Source:
        from tf_frame_deeplab.convert.voc import read_voc

        return read_voc(source, self.params.split)


class Cityscapes(_Converter):
    """Cityscapes: leftImg8bit and gtFine or gtCoarse, label ids to train ids."""

    Params: ClassVar[type] = CityscapesOptions
    name = "cityscapes"

    def read(self, source: Path) -> Source:
        from tf_frame_deeplab.convert.cityscapes import read_cityscapes

        return read_cityscapes(source, self.params.split, self.params.annotations)


class Ade20k(_Converter):
    """ADE20K's scene parsing benchmark: ADEChallengeData2016."""

    name = "ade20k"

    def read(self, source: Path) -> Source:
        from tf_frame_deeplab.convert.ade20k import read_ade20k

        return read_ade20k(source, self.params.split)


class CocoPanoptic(_Converter):
    """COCO 2017's panoptic masks, as semantic classes; things and stuff."""

    name = "coco_panoptic"
    is_known = False

    def read(self, source: Path) -> Source:
        from tf_frame_deeplab.convert.coco_panoptic import read_coco_panoptic

        try:
            return read_coco_panoptic(
                source, self.params.split, allow_outside=self.params.allow_outside
            )
        except DataError as error:
            raise without_prefix(error) from None


class _Drawn(_Converter):
    """Base of the converters of objects that are drawn as masks.

    Attributes:
      source: the input of the same data.
    """

    is_known = False
    repeated = ("overlap", "masks_on")
    source: ClassVar[type[DrawnMasks]]

    def read(self, source: Path) -> Source:
        return read_drawn(source, self.source, self.params)


class CocoMasks(_Drawn):
    """Images with COCO's JSON files, as the input coco_masks reads them."""

    Params: ClassVar[type] = CocoMasksOptions
    name, source = "coco_masks", coco_masks.CocoMasks


class YoloMasks(_Drawn):
    """Images with polygons of YOLO-seg, as the input yolo_masks reads them."""

    Params: ClassVar[type] = YoloMasksOptions
    name, source = "yolo_masks", yolo_masks.YoloMasks


class LabelmeMasks(_Drawn):
    """Images with labelme's JSON files, as the input labelme_masks reads them."""

    Params: ClassVar[type] = LabelmeMasksOptions
    name, source = "labelme_masks", labelme_masks.LabelmeMasks
