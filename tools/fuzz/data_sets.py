"""Writes a small valid data set for each input, to be damaged by `fuzz.py`."""

from __future__ import annotations

import dataclasses
import io
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

_HEIGHT, _WIDTH = 24, 32
_COUNT = 4
_BOX = (4, 3, 20, 15)  # Left, upper, right, lower.
_FORMATS = ("png", "jpg", "gif", "bmp", "webp")


@dataclasses.dataclass(frozen=True)
class Kind:
    """A kind of data set.

    Attributes:
      input: name of the input.
      write: writes a valid data set into a folder.
      options: options of the input besides `data_dir`.
      damaged: patterns of the files to damage.
      plugin: name of the model, for commands.
      converter: name of the converter; empty: there is none.
      multiplied: patterns of files with examples, of which many damaged ones can be made.
    """

    input: str
    write: Callable[[Path], None]
    damaged: tuple[str, ...]
    options: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    plugin: str = "detection"
    converter: str = ""
    multiplied: tuple[str, ...] = ()


def _pixels(number: int) -> Any:
    return np.random.RandomState(number).randint(0, 256, [_HEIGHT, _WIDTH, 3]).astype(np.uint8)


def _encoded(pixels: Any, suffix: str = "png") -> bytes:
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, Image.registered_extensions()[f".{suffix}"])
    return file.getvalue()


def _mask(number: int) -> Any:
    return np.random.RandomState(number).randint(0, 2, [_HEIGHT, _WIDTH]).astype(np.uint8)


def _save(path: Path, content: bytes | str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())


def _images(folder: Path, suffix: str = "png") -> None:
    for number in range(_COUNT):
        _save(folder / f"p{number}.{suffix}", _encoded(_pixels(number), suffix))


def _class_folders(root: Path) -> None:
    for part in ("train", "val"):
        for label, class_name in enumerate(("cat", "dog")):
            for number, suffix in enumerate(_FORMATS):
                pixels = _pixels(10 * label + number)
                _save(root / part / class_name / f"{number}.{suffix}", _encoded(pixels, suffix))


def _masks(root: Path) -> None:
    for part in ("train", "val"):
        _images(root / part / "images")
        for number in range(_COUNT):
            _save(root / part / f"masks/p{number}.png", _encoded(_mask(number)))
    _save(root / "classes.txt", "background\nthing\n")


def _words(root: Path) -> None:
    _images(root)
    _save(root / "labels.txt", "".join(f"p{number}.png\tword\n" for number in range(_COUNT)))


def _coco(root: Path, *, runs: bool = False) -> None:
    _images(root / "images")
    left, upper, right, lower = _BOX
    size = {"width": _WIDTH, "height": _HEIGHT}
    box = [left, upper, right - left, lower - upper]
    shape: Any = [[left, upper, right, upper, right, lower]]
    if runs:
        shape = {"size": [_HEIGHT, _WIDTH], "counts": [100, 200, _HEIGHT * _WIDTH - 300]}
        size = {}
    content = {
        "images": [{"id": n, "file_name": f"p{n}.png", **size} for n in range(_COUNT)],
        "annotations": [
            {"id": n, "image_id": n, "category_id": 1 + n % 2, "bbox": box, "iscrowd": 0}
            | {"area": box[2] * box[3], "segmentation": shape}
            for n in range(_COUNT)
        ],
        "categories": [{"id": 1, "name": "cat"}, {"id": 2, "name": "dog"}],
    }
    _save(root / "annotations/instances_train.json", json.dumps(content))


def _coco_runs(root: Path) -> None:
    _coco(root, runs=True)


def _panoptic(root: Path) -> None:
    _images(root / "train2017")
    annotations = []
    for number in range(_COUNT):
        pixels = np.stack([_mask(number) + 1] + 2 * [0 * _mask(number)], -1)
        _save(root / f"annotations/panoptic_train2017/p{number}.png", _encoded(pixels))
        segments = [{"id": 1 + id_, "category_id": id_, "iscrowd": 0} for id_ in (0, 1)]
        name = f"p{number}.png"
        annotations.append({"image_id": number, "file_name": name, "segments_info": segments})
    content = {
        "images": [{"id": n, "file_name": f"p{n}.png"} for n in range(_COUNT)],
        "annotations": annotations,
        "categories": [{"id": 0, "name": "sky"}, {"id": 1, "name": "cat"}],
    }
    _save(root / "annotations/panoptic_train2017.json", json.dumps(content))


def _voc(root: Path) -> None:
    _images(root / "JPEGImages")
    sides = zip(("xmin", "ymin", "xmax", "ymax"), _BOX, strict=True)
    box = "".join(f"<{name}>{value}</{name}>" for name, value in sides)
    for number in range(_COUNT):
        _save(
            root / f"Annotations/p{number}.xml",
            f"<annotation><filename>p{number}.png</filename><size><width>{_WIDTH}</width><height>"
            f"{_HEIGHT}</height><depth>3</depth></size><object><name>cat</name><difficult>0"
            f"</difficult><bndbox>{box}</bndbox></object></annotation>",
        )
    _save(root / "ImageSets/Main/train.txt", "p0\np1\np2\n")
    _save(root / "ImageSets/Main/val.txt", "p3\n")
    _save(root / "classes.txt", "cat\ndog\n")


def _dota(root: Path) -> None:
    _images(root / "images")
    for number in range(_COUNT):
        line = "4 3 20 3 20 15 4 15 ship 0\n"
        _save(root / f"labelTxt/p{number}.txt", f"imagesource:x\ngsd:0.5\n{line}{line}")


def _yolo(root: Path) -> None:
    for part in ("train", "val"):
        _images(root / f"images/{part}")
        for number in range(_COUNT):
            lines = "0 0.5 0.5 0.25 0.25\n1 0.1 0.1 0.5 0.1 0.5 0.6\n"
            _save(root / f"labels/{part}/p{number}.txt", lines)
    names = "names:\n  0: cat\n  1: dog\n"
    _save(root / "data.yaml", f"path: .\ntrain: images/train\nval: images/val\n{names}")


def _yolo_masks(root: Path) -> None:
    _yolo(root)
    for path in root.glob("labels/*/*"):
        _save(path, "0 0.5 0.5 0.7 0.5 0.6 0.9\n1 0.1 0.1 0.5 0.1 0.5 0.6\n")


def _labelme(root: Path) -> None:
    left, upper, right, lower = _BOX
    points = {
        "rectangle": [[left, upper], [right, lower]],
        "polygon": [[4, 3], [20, 3], [9, 15]],
        "circle": [[15, 12], [19, 12]],
    }
    for number in range(_COUNT):
        _save(root / f"p{number}.png", _encoded(_pixels(number)))
        shapes = [
            {"label": "cat", "points": p, "shape_type": s, "group_id": None, "flags": {}}
            for s, p in points.items()
        ]
        content = {"version": "5.0.1", "flags": {}, "shapes": shapes, "imageData": None}
        content |= {"imagePath": f"p{number}.png", "imageHeight": _HEIGHT, "imageWidth": _WIDTH}
        _save(root / f"p{number}.json", json.dumps(content))


def _records(root: Path, example: Callable[[int], Mapping[str, Any]]) -> None:
    from changes import write_records  # It imports TensorFlow.

    for part in ("train", "val"):
        content = [dict(example(number)) for number in range(_COUNT)]
        write_records(root / f"{part}-00000-of-00001.tfrecord", content)


def _image_example(number: int) -> dict[str, Any]:
    sizes = {"image/height": [_HEIGHT], "image/width": [_WIDTH], "image/format": [b"png"]}
    return {"image/encoded": [_encoded(_pixels(number))], "image/filename": [b"a.png"], **sizes}


def _class_records(root: Path) -> None:
    _records(root, lambda number: {**_image_example(number), "image/class/label": [number % 2]})
    _save(root / "labels.txt", "0:cat\n1:dog\n")


def _mask_records(root: Path) -> None:
    key = "image/segmentation/class/encoded"
    _records(root, lambda number: {**_image_example(number), key: [_encoded(_mask(number))]})
    _save(root / "classes.txt", "background\nthing\n")


def _word_records(root: Path) -> None:
    _records(root, lambda number: {**_image_example(number), "image/transcript": [b"word"]})


def _box_records(root: Path) -> None:
    key = "image/object/"
    boxes = {
        **{f"{key}bbox/{side}": [0.1, 0.3] for side in ("xmin", "ymin")},
        **{f"{key}bbox/{side}": [0.5, 0.7] for side in ("xmax", "ymax")},
        f"{key}class/label": [1, 2],
        f"{key}class/text": [b"cat", b"dog"],
        f"{key}difficult": [0, 1],
    }
    _records(root, lambda number: {**_image_example(number), **boxes})
    items = (f"item {{\n  id: {n}\n  name: '{name}'\n}}\n" for n, name in ((1, "cat"), (2, "dog")))
    _save(root / "label_map.pbtxt", "".join(items))


# Without augmentation, which costs most of the time.
_PLAIN = {"data_augmentation": ()}
_IMAGES, _MASKS, _DETECTION = {"image_size": 28}, {"crop_size": 33}, {"image_size": (64,), **_PLAIN}
_POLYGONS = ("labels/*/*", "labels/*/*", "data.yaml")
_RECORD = ("val*.tfrecord",)


def _of(name: str, *arguments: Any, **options: Any) -> Kind:
    """Returns a kind with a converter of the input's name."""
    return Kind(name, *arguments, converter=name, **options)


KINDS = {
    "class_folders": _of(
        "image_folder",
        _class_folders,
        ("*/*/*",),
        _IMAGES,
        plugin="classification",
        multiplied=("val/cat/*",),
    ),
    "masks": _of(
        "segmentation_folder",
        _masks,
        ("*/images/*", "*/masks/*", "classes.txt"),
        _MASKS,
        plugin="deeplab",
        multiplied=("val/images/*", "val/masks/*"),
    ),
    "words": Kind(
        "text_folder", _words, ("*.png", "labels.txt", "labels.txt"), plugin="recognition"
    ),
    "coco": _of("coco_json", _coco, ("annotations/*",), _DETECTION),
    "voc": _of("voc_xml", _voc, ("Annotations/*", "ImageSets/*/*", "classes.txt"), _DETECTION),
    "dota": _of("dota", _dota, ("labelTxt/*",), _DETECTION),
    "yolo": _of("yolo", _yolo, _POLYGONS, _DETECTION),
    "labelme": _of("labelme", _labelme, ("*.json",), _DETECTION),
    "coco_masks": _of("coco_masks", _coco, ("annotations/*",), _MASKS, plugin="deeplab"),
    "coco_runs": _of("coco_masks", _coco_runs, ("annotations/*",), _MASKS, plugin="deeplab"),
    "yolo_masks": _of("yolo_masks", _yolo_masks, _POLYGONS, _MASKS, plugin="deeplab"),
    "labelme_masks": _of("labelme_masks", _labelme, ("*.json",), _MASKS, plugin="deeplab"),
    "panoptic": Kind(
        "",
        _panoptic,
        ("annotations/*.json", "annotations/*.json", "annotations/*/*"),
        converter="coco_panoptic",
    ),
    "class_records": Kind(
        "image_tfrecord",
        _class_records,
        (*_RECORD, "labels.txt"),
        _IMAGES,
        plugin="classification",
        multiplied=_RECORD,
    ),
    "mask_records": Kind(
        "segmentation_tfrecord",
        _mask_records,
        (*_RECORD, "classes.txt"),
        _MASKS,
        plugin="deeplab",
        multiplied=_RECORD,
    ),
    "word_records": Kind(
        "text_tfrecord", _word_records, _RECORD, plugin="recognition", multiplied=_RECORD
    ),
    "box_records": Kind(
        "detection_tfrecord", _box_records, _RECORD, _DETECTION, multiplied=_RECORD
    ),
    "label_maps": Kind("detection_tfrecord", _box_records, ("label_map.pbtxt",), _DETECTION),
}
