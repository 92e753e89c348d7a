"""Photographs of all eight EXIF orientations: images and objects lie as Pillow shows the image.

An input is a row of `INPUTS`: a function that writes its data set, the class and its options.
"""

import importlib
import json

import numpy as np
import pytest
from PIL import Image, ImageOps

from tf_frame import InputContext, Mode
from tf_frame.cli.main import main
from tf_frame.testing.elements import read_elements
from tf_frame_vision.reading.orientation import turn_pixels
from tfrecords import make_example, write_records

pytestmark = pytest.mark.usefixtures("graph")

HEIGHT, WIDTH = 24, 40
# Upper, left, lower, right of a bright object on the shown image.
BOX = (4, 6, 14, 30)
NAMES = [f"p{orientation}" for orientation in range(1, 9)]
INVERSE = {6: 8, 8: 6}
PLAIN = {"image_size": (), "data_augmentation": (), "shuffle_buffer": 0}


def pictures(folder, ending=".png"):
    """Writes a photograph for each orientation."""
    folder.mkdir(parents=True, exist_ok=True)
    random = np.random.RandomState(0)
    for orientation, name in enumerate(NAMES, 1):
        shown = random.randint(0, 60, [HEIGHT, WIDTH, 3]).astype(np.uint8)
        upper, left, lower, right = BOX
        shown[upper:lower, left:right] = 250
        tags = Image.Exif()
        tags[0x0112] = orientation
        stored = turn_pixels(shown, INVERSE.get(orientation, orientation))
        Image.fromarray(stored).save(folder / f"{name}{ending}", exif=tags)


def coco_json(root):
    pictures(root / "train")
    upper, left, lower, right = BOX
    box = [left, upper, right - left, lower - upper]
    content = {
        "images": [
            {"id": number, "file_name": f"{name}.png", "width": WIDTH, "height": HEIGHT}
            for number, name in enumerate(NAMES)
        ],
        "annotations": [
            {"id": n, "image_id": n, "category_id": 1, "bbox": box, "area": 240, "iscrowd": 0}
            for n in range(len(NAMES))
        ],
        "categories": [{"id": 1, "name": "cone"}],
    }
    (root / "annotations").mkdir()
    path = root / "annotations" / "instances_train2017.json"
    path.write_text(json.dumps(content), encoding="utf-8")


def voc_xml(root):
    pictures(root / "JPEGImages")
    (root / "Annotations").mkdir()
    upper, left, lower, right = BOX
    for name in NAMES:
        (root / "Annotations" / f"{name}.xml").write_text(
            f"<annotation><filename>{name}.png</filename><size><width>{WIDTH}</width>"
            f"<height>{HEIGHT}</height></size><object><name>cone</name><bndbox>"
            f"<xmin>{left + 1}</xmin><ymin>{upper + 1}</ymin><xmax>{right}</xmax>"
            f"<ymax>{lower}</ymax></bndbox></object></annotation>",
            encoding="utf-8",
        )


def dota(root):
    pictures(root / "images")
    (root / "labelTxt").mkdir()
    upper, left, lower, right = BOX
    line = f"{left} {upper} {right} {upper} {right} {lower} {left} {lower} cone 0\n"
    for name in NAMES:
        (root / "labelTxt" / f"{name}.txt").write_text(line, encoding="utf-8")


def yolo(root):
    pictures(root / "images")
    (root / "labels").mkdir()
    upper, left, lower, right = BOX
    centre = (left + right) / 2 / WIDTH, (upper + lower) / 2 / HEIGHT
    sides = (right - left) / WIDTH, (lower - upper) / HEIGHT
    for name in NAMES:
        text = " ".join(map(str, (0, *centre, *sides)))
        (root / "labels" / f"{name}.txt").write_text(text, encoding="utf-8")
    (root / "classes.txt").write_text("cone\n", encoding="utf-8")


def labelme(root):
    pictures(root)
    upper, left, lower, right = BOX
    shape = {"label": "cone", "points": [[left, upper], [right, lower]]}
    shape |= {"shape_type": "rectangle", "flags": {}, "group_id": None}
    for name in NAMES:
        content = {"version": "5.4.1", "flags": {}, "shapes": [shape], "imageData": None}
        content |= {"imagePath": f"{name}.png", "imageHeight": HEIGHT, "imageWidth": WIDTH}
        (root / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")


def converted(root):
    dota(root / "source")
    words = ["convert", "dota", root / "source", root / "records", "--shards", "1"]
    assert main([*map(str, words), "--eval_fraction", "0"]) == 0
    for file in (root / "records").iterdir():
        file.rename(root / file.name)


def stored_records(root):
    """Records as programs write them that ignore the orientation: sizes and boxes as stored."""
    pictures(root / "photos")
    upper, left, lower, right = BOX
    shown = np.zeros([HEIGHT, WIDTH])
    shown[upper:lower, left:right] = 1
    examples = []
    for orientation, name in enumerate(NAMES, 1):
        is_exchanged = orientation > 4
        inverse = INVERSE.get(orientation, orientation)
        stored = turn_pixels(shown, inverse) if is_exchanged else shown
        rows, columns = np.nonzero(stored)
        height, width = stored.shape
        values = {
            "image/encoded": [(root / "photos" / f"{name}.png").read_bytes()],
            "image/height": [height],
            "image/width": [width],
            "image/object/bbox/ymin": [float(rows.min() / height)],
            "image/object/bbox/xmin": [float(columns.min() / width)],
            "image/object/bbox/ymax": [float((rows.max() + 1) / height)],
            "image/object/bbox/xmax": [float((columns.max() + 1) / width)],
            "image/object/class/label": [1],
        }
        examples.append(make_example(values))
    write_records(root / "train.record", examples)
    (root / "label_map.pbtxt").write_text("item { id: 1 name: 'cone' }\n", encoding="utf-8")


INPUTS = {
    "coco_json": (coco_json, "coco_json:CocoJson", {}),
    "voc_xml": (voc_xml, "voc_xml:VocXml", {}),
    "dota": (dota, "dota:Dota", {}),
    "yolo": (yolo, "yolo:Yolo", {}),
    "labelme": (labelme, "labelme:Labelme", {}),
    "convert": (converted, "detection_tfrecord:DetectionTfrecord", {}),
    "records": (stored_records, "detection_tfrecord:DetectionTfrecord", {}),
}


@pytest.mark.parametrize("name", INPUTS)
def test_images_and_objects_lie_as_pillow_shows_the_image(tmp_path, name):
    write, place, options = INPUTS[name]
    write(tmp_path)
    module, cls = place.split(":")
    module = importlib.import_module(f"tf_frame_detection.inputs.{module}")
    if hasattr(module.Params, "eval_fraction"):
        options = {"eval_fraction": 0.0, **options}
    source = getattr(module, cls)(
        params=module.Params(data_dir=str(tmp_path), augment=False, **PLAIN, **options)
    )
    dataset = source.dataset(Mode.TRAIN, InputContext(batch_size=1))
    photographs = sorted(tmp_path.rglob("p?.png"))
    for path, (features, labels) in zip(photographs, read_elements(dataset, 8), strict=True):
        shown = np.asarray(ImageOps.exif_transpose(Image.open(path)))
        np.testing.assert_array_equal(features["image"][0], shown)
        np.testing.assert_allclose(labels["boxes"][0][0], BOX, atol=1e-4)
