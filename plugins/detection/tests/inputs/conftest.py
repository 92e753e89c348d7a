"""Small folders of photographs with boxes in the forms that the inputs read."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
import tensorflow.compat.v1 as tf
from PIL import Image

# Left, upper, right and lower edge, in pixels counted from 0, ends exclusive; and the class.
OBJECTS = {
    "a": [(2, 3, 12, 9, "cat"), (20, 4, 30, 20, "dog")],
    "b": [],
    "c": [(5, 5, 9, 21, "dog")],
    "d": [(0, 0, 32, 24, "cat")],
}
SIZE = (24, 32)


def image_of(name):
    return np.random.RandomState(ord(name)).randint(0, 256, [*SIZE, 3]).astype(np.uint8)


def write_images(folder, names=OBJECTS):
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        Image.fromarray(image_of(name)).save(folder / f"{name}.png")


def write_coco(root):
    write_images(root / "train2017", "abc"), write_images(root / "val2017", "d")
    (root / "annotations").mkdir()
    for split, names in (("train", "abc"), ("val", "d")):
        content = coco_content(names)
        (root / f"annotations/instances_{split}2017.json").write_text(json.dumps(content))
    return root


def coco_content(names):
    ids = {"dog": 18, "cat": 17}
    annotations = [
        {
            "image_id": ord(name),
            "category_id": ids[kind],
            "bbox": [left, upper, right - left, lower - upper],
            "iscrowd": int(kind == "dog" and name == "c"),
        }
        for name in names
        for left, upper, right, lower, kind in OBJECTS[name]
    ]
    return {
        "images": [
            {"id": ord(name), "file_name": f"{name}.png", "height": SIZE[0], "width": SIZE[1]}
            for name in names
        ],
        "annotations": [{**each, "id": n} for n, each in enumerate(annotations)],
        "categories": [{"id": id_, "name": name} for name, id_ in ids.items()],
    }


def write_voc(root):
    write_images(root / "JPEGImages")
    (root / "Annotations").mkdir()
    for name, marks in OBJECTS.items():
        objects = "".join(
            f"<object><name>{kind}</name><difficult>{int(kind == 'dog')}</difficult><bndbox>"
            f"<xmin>{left + 1}</xmin><ymin>{upper + 1}</ymin><xmax>{right}</xmax>"
            f"<ymax>{lower}</ymax></bndbox></object>"
            for left, upper, right, lower, kind in marks
        )
        size = f"<size><width>{SIZE[1]}</width><height>{SIZE[0]}</height></size>"
        text = f"<annotation>{size}{objects}</annotation>"
        (root / "Annotations" / f"{name}.xml").write_text(text)
    lists = root / "ImageSets" / "Main"
    lists.mkdir(parents=True)
    (lists / "train.txt").write_text("a\nb\nc\n"), (lists / "val.txt").write_text("d\n")
    return root


def write_dota(root):
    for split, names in (("train", "abc"), ("val", "d")):
        write_images(root / split / "images", names)
        (root / split / "labelTxt").mkdir()
        for name in names:
            lines = ["imagesource:GoogleEarth", "gsd:0.1"]
            lines += [
                f"{left} {upper} {right} {upper} {right} {lower} {left} {lower} {kind}"
                f" {int(kind == 'dog')}"
                for left, upper, right, lower, kind in OBJECTS[name]
            ]
            (root / split / "labelTxt" / f"{name}.txt").write_text("\n".join(lines))
    return root


def write_yolo(root):
    """Rotated boxes, in Roboflow's layout."""
    for split, names in (("train", "abc"), ("valid", "d")):
        write_images(root / split / "images", names)
        (root / split / "labels").mkdir()
        for name in names:
            lines = [
                " ".join(
                    [str(int(kind == "dog"))]
                    + [
                        f"{x / SIZE[1]} {y / SIZE[0]}"
                        for x, y in ((left, upper), (right, upper), (right, lower), (left, lower))
                    ]
                )
                for left, upper, right, lower, kind in OBJECTS[name]
            ]
            (root / split / "labels" / f"{name}.txt").write_text("\n".join(lines))
    text = "train: ../train/images\nval: ../valid/images\nnc: 2\nnames: [cat, dog]\n"
    (root / "data.yaml").write_text(text)
    return root


def write_labelme(root):
    for split, names in (("train", "abc"), ("val", "d")):
        write_images(root / split, names)
        for name in names:
            shapes = [
                {"label": kind, "shape_type": "rectangle", "points": [box[:2], box[2:]]}
                for *box, kind in OBJECTS[name]
            ]
            size = {"imageHeight": SIZE[0], "imageWidth": SIZE[1]}
            content = {"imagePath": f"{name}.png", **size, "shapes": shapes}
            (root / split / f"{name}.json").write_text(json.dumps(content))
    return root


@pytest.fixture
def forms():
    """Writers of the forms, and what they write."""
    return SimpleNamespace(
        coco_json=write_coco,
        voc_xml=write_voc,
        dota=write_dota,
        yolo=write_yolo,
        labelme=write_labelme,
        objects=OBJECTS,
        size=SIZE,
        image_of=image_of,
        categories=coco_content("")["categories"],
    )


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        yield
