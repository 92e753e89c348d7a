"""Small data sets of outlines in three formats, and the inputs that draw them as masks."""

import json

import numpy as np
import tensorflow.compat.v1 as tf
from PIL import Image

from tf_frame import InputContext, Mode
from tf_frame.testing.elements import read_elements
from tf_frame_deeplab.inputs.coco_masks import CocoMasks
from tf_frame_deeplab.inputs.labelme_masks import LabelmeMasks
from tf_frame_deeplab.inputs.yolo_masks import YoloMasks

INPUTS = {"coco_masks": CocoMasks, "yolo_masks": YoloMasks, "labelme_masks": LabelmeMasks}

SIZE = (24, 32)

# Left, upper, right and lower edge, and the class of each object.
OBJECTS = {"a": [(2, 3, 12, 9, "cat"), (8, 4, 30, 20, "dog")], "b": [], "c": [(5, 5, 9, 21, "dog")]}

CLASSES = ("cat", "dog")

PLAIN = {"crop_size": SIZE, "shuffle_buffer": 0, "augment": False}


def outline(left, upper, right, lower):
    return [left, upper, right, upper, right, lower, left, lower]


def write_images(folder, names):
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        pixels = np.random.RandomState(ord(name)).randint(0, 256, [*SIZE, 3])
        Image.fromarray(pixels.astype(np.uint8)).save(folder / f"{name}.png")


def write_coco(root):
    for split, names in (("train", "ab"), ("valid", "c")):
        write_images(root / split, names)
        content = {
            "images": [
                {"id": ord(name), "file_name": f"{name}.png", "height": SIZE[0], "width": SIZE[1]}
                for name in names
            ],
            "annotations": [
                {
                    "id": 10 * ord(name) + place,
                    "image_id": ord(name),
                    "category_id": CLASSES.index(kind) + 1,
                    "segmentation": [outline(*edges)],
                    "iscrowd": 0,
                }
                for name in names
                for place, (*edges, kind) in enumerate(OBJECTS[name])
            ],
            "categories": [{"id": n, "name": name} for n, name in enumerate(CLASSES, 1)],
        }
        (root / split / "_annotations.coco.json").write_text(json.dumps(content))
    return root


def write_yolo(root):
    for split, names in (("train", "ab"), ("val", "c")):
        write_images(root / "images" / split, names)
        (root / "labels" / split).mkdir(parents=True)
        for name in names:
            lines = [
                f"{CLASSES.index(kind)} "
                + " ".join(
                    str(v / side) for v, side in zip(outline(*edges), SIZE[::-1] * 4, strict=True)
                )
                for *edges, kind in OBJECTS[name]
            ]
            (root / "labels" / split / f"{name}.txt").write_text("\n".join(lines))
    (root / "classes.txt").write_text("cat\ndog\n")
    return root


def write_labelme(root):
    for split, names in (("train", "ab"), ("val", "c")):
        write_images(root / split, names)
        for name in names:
            write_shapes(
                root / split / f"{name}.json",
                *(shape(kind, "rectangle", edges[:2], edges[2:]) for *edges, kind in OBJECTS[name]),
            )
    return root


def shape(label, kind, *points, **more):
    return {"label": label, "shape_type": kind, "points": points, **more}


def write_shapes(path, *shapes):
    size = {"imageHeight": SIZE[0], "imageWidth": SIZE[1]}
    path.write_text(json.dumps({"imagePath": f"{path.stem}.png", **size, "shapes": shapes}))


WRITERS = {"coco_masks": write_coco, "yolo_masks": write_yolo, "labelme_masks": write_labelme}


def source(name, folder, **params):
    kind = INPUTS[name]
    return kind(params=kind.Params(data_dir=str(folder), **{**PLAIN, **params}))


def first(of, mode=Mode.TRAIN):
    batch_size = 2 if mode == Mode.TRAIN else 1
    with tf.Graph().as_default():
        return read_elements(of.dataset(mode, InputContext(batch_size=batch_size)), 1)[0]


def change_coco(root, **fields):
    """Changes the first annotation."""
    path = root / "train/_annotations.coco.json"
    content = json.loads(path.read_text())
    content["annotations"][0].update(fields)
    path.write_text(json.dumps(content))


def edit_coco(root, change):
    path = root / "train/_annotations.coco.json"
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))
