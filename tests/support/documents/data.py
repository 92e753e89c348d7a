"""Small data that readers of the documents have, each made in a folder by a function of its name.

Pictures are noise with a rectangle, so that masks, boxes and classes belong to something.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
from PIL import Image

import converted_masks
from documents.blocks import blocks
from idx_files import encode_idx
from source_tree import ROOT

_SIZE = 64
_CLASSES = ("cat", "dog", "horse")


def _picture(number: int) -> tuple[np.ndarray, tuple[int, int, int, int]]:
    """Returns pixels, and the box of the rectangle: left, upper, right, lower."""
    random = np.random.RandomState(number)
    pixels = random.randint(0, 120, [_SIZE, _SIZE, 3]).astype(np.uint8)
    left, upper = random.randint(4, 24, 2)
    width, height = random.randint(20, 34, 2)
    pixels[upper : upper + height, left : left + width, number % 3] += 120
    return pixels, (int(left), int(upper), int(left + width), int(upper + height))


def _save(path: Path, pixels: np.ndarray) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(pixels).save(path)


def _anew(folder: Path) -> Path:
    """Returns an empty folder, in place of one that an earlier block had under this name."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def clone(folder: Path) -> None:
    """The files of this repository, as in a clone."""
    words = ["git", "ls-files", "-z"]
    listed = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).exists():  # It may be removed, and not yet committed.
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)


def plugins_of_the_clone(folder: Path) -> None:
    """The folder `plugins` of a clone."""
    left_out = shutil.ignore_patterns("__pycache__", "*.egg-info", "build", "tests")
    shutil.copytree(ROOT / "plugins", folder / "plugins", ignore=left_out)


def photo(folder: Path) -> None:
    """A photograph."""
    photographs = ROOT / "plugins" / "weights" / "tests" / "photographs"
    shutil.copy(photographs / "hopper.jpg", folder / "photo.jpg")


def hopper(folder: Path) -> None:
    """The photograph whose prediction is shown."""
    photographs = ROOT / "plugins" / "weights" / "tests" / "photographs"
    shutil.copy(photographs / "hopper.jpg", folder / "hopper.jpg")


def _pictures(folder: Path, first: int, count: int = 2, ending: str = "jpg") -> None:
    for number in range(count):
        _save(folder / f"{number}.{ending}", _picture(first + number)[0])


def photos(folder: Path) -> None:
    """Pictures without labels."""
    _pictures(_anew(folder / "photos"), 20, ending="png")


def more_photos(folder: Path) -> None:
    """Further pictures, in `more_photos`, `new_photos` and `more`."""
    for name in ("more_photos", "new_photos", "more", "PHOTOS"):
        _pictures(_anew(folder / name), 30)
    shutil.copy(folder / "more" / "0.jpg", folder / "more" / "x.jpg")


def photos_of_classes(folder: Path) -> None:
    """A folder for each class."""
    _classes(_anew(folder / "photos"))


def other_photos_of_classes(folder: Path) -> None:
    """Further pictures of the same classes, in `more_pets`."""
    _classes(_anew(folder / "more_pets"), 50)


def _classes(folder: Path, first: int = 0, count: int = 12) -> None:
    for number in range(first, first + count):
        _save(folder / _CLASSES[number % 3] / f"{number}.jpg", _picture(number)[0])


def parts_of_classes(folder: Path) -> None:
    """Two parts, each with a folder for each class, in `flowers`."""
    root = _anew(folder / "flowers")
    _classes(root / "train")
    _classes(root / "validation", 20, 6)


def photos_with_masks(folder: Path) -> None:
    """`images`, `masks` and `classes.txt`."""
    _masks(_anew(folder / "photos"))


def other_photos_with_masks(folder: Path) -> None:
    """The same for another folder."""
    _masks(_anew(folder / "other"), 20)


def _masks(root: Path, first: int = 0) -> None:
    (root / "classes.txt").write_text("background\nnucleus\nboundary\n")
    for number in range(first, first + 8):
        pixels, (left, upper, right, lower) = _picture(number)
        mask = np.zeros([_SIZE, _SIZE], np.uint8)
        mask[upper:lower, left:right] = 2
        mask[upper + 2 : lower - 2, left + 2 : right - 2] = 1
        _save(root / "images" / f"{number}.jpg", pixels)
        _save(root / "masks" / f"{number}.png", mask)


def _coco(numbers: range) -> dict[str, list[dict[str, object]]]:
    """Boxes and polygons of pictures, in COCO's form."""
    images: list[dict[str, object]] = []
    annotations: list[dict[str, object]] = []
    for number in numbers:
        left, upper, right, lower = _picture(number)[1]
        box = [left, upper, right - left, lower - upper]
        corners = [left, upper, right, upper, right, lower, left, lower]
        name = f"{number}.jpg"
        images.append({"id": number, "file_name": name, "width": _SIZE, "height": _SIZE})
        about = {"id": number + 1, "image_id": number, "category_id": 1, "iscrowd": 0}
        shape = {"bbox": box, "area": box[2] * box[3], "segmentation": [corners]}
        annotations.append({**about, **shape})
    categories: list[dict[str, object]] = [{"id": 1, "name": "Tree"}]
    return {"images": images, "annotations": annotations, "categories": categories}


def _coco_folder(root: Path) -> None:
    for part, numbers in (("train", range(10, 18)), ("val", range(18, 21))):
        for number in numbers:
            _save(root / f"{part}2017" / f"{number}.jpg", _picture(number)[0])
        path = root / "annotations" / f"instances_{part}2017.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(_coco(numbers)))


def photos_in_coco_form(folder: Path) -> None:
    """Boxes and polygons of one class, that of the sample `trees`, in `photos`."""
    _coco_folder(_anew(folder / "photos"))


def coco(folder: Path) -> None:
    """The same in `coco`, with a panoptic part."""
    _coco_folder(_anew(folder / "coco"))
    converted_masks.coco_panoptic(folder / "coco")


def yolo(folder: Path) -> None:
    """Boxes in `datasets/coco8`, polygons in `datasets/coco8-seg`."""
    for name, polygons in (("coco8", False), ("coco8-seg", True)):
        root = _anew(folder / "datasets" / name)
        (root / "data.yaml").write_text("train: images/train\nval: images/val\nnames: [tree]\n")
        for part, numbers in (("train", range(6)), ("val", range(6, 9))):
            for number in numbers:
                _yolo_picture(root, part, number, polygons)


def _yolo_picture(root: Path, part: str, number: int, polygons: bool) -> None:
    pixels, box = _picture(number)
    left, upper, right, lower = (each / _SIZE for each in box)
    centre = [(left + right) / 2, (upper + lower) / 2, right - left, lower - upper]
    # A point between two corners: four points would be a rotated box.
    corners = [left, upper, (left + right) / 2, upper, right, upper, right, lower, left, lower]
    _save(root / "images" / part / f"{number}.jpg", pixels)
    path = root / "labels" / part / f"{number}.txt"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(" ".join(map(str, [0, *(corners if polygons else centre)])) + "\n")


def photos_of_labelme(folder: Path) -> None:
    """A JSON file with a polygon next to each picture, in `photos`."""
    _labelme(_anew(folder / "photos"))


def polygons(folder: Path) -> None:
    """The same in `polygons`."""
    _labelme(_anew(folder / "polygons"))


def _labelme(root: Path) -> None:
    for number in range(8):
        pixels, (left, upper, right, lower) = _picture(number)
        _save(root / f"{number}.jpg", pixels)
        points = [[left, upper], [right, upper], [right, lower], [left, lower]]
        shape = {"label": "tree", "points": points, "group_id": None, "shape_type": "polygon"}
        content = {
            **{"version": "5.0.1", "flags": {}, "shapes": [shape], "imagePath": f"{number}.jpg"},
            **{"imageData": None, "imageHeight": _SIZE, "imageWidth": _SIZE},
        }
        (root / f"{number}.json").write_text(json.dumps(content))


def voc_masks(folder: Path) -> None:
    """VOC's folder with masks, in `VOCdevkit`."""
    shutil.rmtree(folder / "VOCdevkit", ignore_errors=True)
    converted_masks.voc(folder)


def cityscapes(folder: Path) -> None:
    """Cityscapes, in `downloads`."""
    converted_masks.cityscapes(_anew(folder / "downloads"))


def ade20k(folder: Path) -> None:
    """ADE20K."""
    converted_masks.ade20k(folder)


def voc_boxes(folder: Path) -> None:
    """VOC's folder with boxes, in `VOCdevkit/VOC2012`, and the same in `VOC2012`."""
    for root in (_anew(folder / "VOCdevkit" / "VOC2012"), _anew(folder / "VOC2012")):
        for number in range(8):
            pixels, box = _picture(number)
            _save(root / "JPEGImages" / f"{number}.jpg", pixels)
            path = root / "Annotations" / f"{number}.xml"
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(ElementTree.tostring(_voc_annotation(number, box)))
        lists = root / "ImageSets" / "Main"
        lists.mkdir(parents=True)
        (lists / "train.txt").write_text("".join(f"{number}\n" for number in range(6)))
        (lists / "val.txt").write_text("6\n7\n")


def _voc_annotation(number: int, box: tuple[int, ...]) -> ElementTree.Element:
    root = ElementTree.Element("annotation")
    ElementTree.SubElement(root, "filename").text = f"{number}.jpg"
    size = ElementTree.SubElement(root, "size")
    for key, value in (("width", _SIZE), ("height", _SIZE), ("depth", 3)):
        ElementTree.SubElement(size, key).text = str(value)
    thing = ElementTree.SubElement(root, "object")
    ElementTree.SubElement(thing, "name").text = "tree"
    corners = ElementTree.SubElement(thing, "bndbox")
    for key, value in zip(("xmin", "ymin", "xmax", "ymax"), box, strict=True):
        ElementTree.SubElement(corners, key).text = str(value)
    return root


def dota(folder: Path) -> None:
    """Rotated boxes, in `DOTA`."""
    root = _anew(folder / "DOTA")
    for part, numbers in (("train", range(6)), ("val", range(6, 8))):
        for number in numbers:
            pixels, (left, upper, right, lower) = _picture(number)
            _save(root / part / "images" / f"{number}.png", pixels)
            path = root / part / "labelTxt" / f"{number}.txt"
            path.parent.mkdir(exist_ok=True)
            corners = (left, upper, right, upper, right, lower, left, lower)
            path.write_text(f"{' '.join(map(str, corners))} tree 0\n")


def words_to_read(folder: Path) -> None:
    """Images of words with `labels.txt`, in `words`."""
    root = _anew(folder / "words")
    lines = []
    for number in range(8):
        _save(root / f"{number}.png", _picture(number)[0][:24])
        lines.append(f"{number}.png\t{['one', 'two', 'ten', 'six'][number % 4]}\n")
    (root / "labels.txt").write_text("".join(lines))


def synth90k(folder: Path) -> None:
    """The folder of MJSynth, whose files have the words in their names."""
    root = _anew(folder / "mnt" / "ramdisk" / "max" / "90kDICT32px")
    for name, numbers in (("train", range(8)), ("val", range(8, 12))):
        paths = [f"./1/{n}/{n}_{['one', 'two', 'ten', 'six'][n % 4]}_{n}.jpg" for n in numbers]
        for number, path in zip(numbers, paths, strict=True):
            _save(root / path, _picture(number)[0][:32])
        lines = "".join(f"{path} {number}\n" for number, path in enumerate(paths))
        (root / f"annotation_{name}.txt").write_text(lines)


def fashion_mnist(folder: Path) -> None:
    """The files of Fashion-MNIST, in `downloads`: 40 and 10 images."""
    root = _anew(folder / "downloads")
    random = np.random.RandomState(0)
    for part, count in (("train", 40), ("t10k", 10)):
        images = random.randint(0, 256, [count, 28, 28]).astype(np.uint8)
        labels = (np.arange(count) % 10).astype(np.uint8)
        (root / f"{part}-images-idx3-ubyte").write_bytes(encode_idx(images))
        (root / f"{part}-labels-idx1-ubyte").write_bytes(encode_idx(labels))


def cifar10(folder: Path) -> None:
    """The binary version of CIFAR-10: ten images a file."""
    root = _anew(folder / "cifar-10-batches-bin")
    random = np.random.RandomState(0)
    for name in (*(f"data_batch_{number}" for number in range(1, 6)), "test_batch"):
        records = random.randint(0, 256, [10, 3073]).astype(np.uint8)
        records[:, 0] = np.arange(10)
        (root / f"{name}.bin").write_bytes(records.tobytes())


def old_programs(folder: Path) -> None:
    """Programs for TensorFlow 1: `train.py`, `old_program/train.py`, `run_classifier.py`."""
    (folder / "data").mkdir(exist_ok=True)
    (folder / "old_program").mkdir(exist_ok=True)
    programs = Path(__file__).with_name("programs")
    for name in ("train.py", "run_classifier.py", "old_program/train.py"):
        shutil.copy(programs / f"{Path(name).name}.txt", folder / name)


def my_line(folder: Path) -> None:
    """An empty folder for the package of a plugin, with one for its tests."""
    (folder / "my-line" / "tests").mkdir(parents=True)


def line_package(folder: Path) -> None:
    """The package of `docs/writing/one_file.md`, in `my-line`."""
    my_line(folder)
    for block in blocks("docs/writing/one_file.md"):
        if block.file:
            (folder / block.file).write_text(block.text, encoding="utf-8")
