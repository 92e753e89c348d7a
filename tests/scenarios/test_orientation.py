"""Photographs of all eight EXIF orientations: pixels and labels lie as Pillow shows the image.

A row of `INPUTS` is a data set: a function that writes it, its input, and options. Each input is
trained on, and the input of each plugin predicts and serves image files.
"""

import dataclasses
import importlib
import json

import numpy as np
import pytest
import tensorflow.compat.v1 as tf
from PIL import Image

import turned_photographs as turned
from slow_cases import slow_but
from tf_frame import InputContext, Mode
from tf_frame.cli.main import main
from tf_frame.testing.elements import read_elements
from tfrecords import make_example, write_records
from turned_photographs import BOX, HEIGHT, WIDTH, photographs

PLAIN = {"shuffle_buffer": 0, "augment": False, "eval_fraction": 0.0}
BOXES = {"image_size": (), "data_augmentation": (), "max_boxes": 4}
MASKS = {"crop_size": (HEIGHT, WIDTH)}


def text(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")


def class_folders(root, frame):
    for one in photographs(frame):
        turned.write(root / one.stem, one)


def class_records(root, frame):
    records(root, frame, lambda one: {"image/class/label": [one.orientation - 1]})
    text(root / "labels.txt", "".join(f"{n}:p{n + 1}\n" for n in range(8)))


def words(root, frame):
    lines = [f"{turned.write(root, one).name}\t{one.stem}\n" for one in photographs(frame)]
    text(root / "labels.txt", "".join(lines))


def word_records(root, frame):
    records(root, frame, lambda one: {"image/text": [one.stem.encode()]})


def records(root, frame, values):
    """Writes records with the values of each photograph, and its files next to the folder."""
    examples = []
    for one in photographs(frame):
        content = turned.write(root.parent / "files", one).read_bytes()
        examples.append(make_example({"image/encoded": [content], **values(one)}))
    root.mkdir(parents=True, exist_ok=True)
    write_records(root / "train-00000-of-00001", examples)


def box_records(root, frame):
    def values(one):
        (height, width), (upper, left, lower, right) = one.size, one.box
        edges = {"ymin": upper / height, "xmin": left / width}
        edges |= {"ymax": lower / height, "xmax": right / width}
        return {
            "image/height": [height],
            "image/width": [width],
            **{f"image/object/bbox/{edge}": [float(value)] for edge, value in edges.items()},
            "image/object/class/label": [1],
        }

    records(root, frame, values)
    text(root / "label_map.pbtxt", "item { id: 1 name: 'cone' }\n")


def mask_records(root, frame):
    root.parent.mkdir(parents=True, exist_ok=True)

    def values(one):
        path = root.parent / "mask.png"
        Image.fromarray(one.mask).save(path)
        return {"image/segmentation/class/encoded": [path.read_bytes()]}

    records(root, frame, values)
    text(root / "classes.txt", "background\ncone\n")


def coco(root, frame):
    content = {"images": [], "annotations": [], "categories": [{"id": 1, "name": "cone"}]}
    for one in photographs(frame):
        name = turned.write(root / "train", one).name
        (height, width), (upper, left, lower, right) = one.size, one.box
        size = {"height": height, "width": width}
        content["images"].append({"id": one.orientation, "file_name": name, **size})
        box = [left, upper, right - left, lower - upper]
        marks = {"bbox": box, "segmentation": [one.outline], "area": 240, "iscrowd": 0}
        ids = {"id": one.orientation, "image_id": one.orientation, "category_id": 1}
        content["annotations"].append({**ids, **marks})
    text(root / "annotations" / "instances_train2017.json", content)


def voc(root, frame):
    for one in photographs(frame):
        name = turned.write(root / "JPEGImages", one).name
        (height, width), (upper, left, lower, right) = one.size, one.box
        edges = {"xmin": left + 1, "ymin": upper + 1, "xmax": right, "ymax": lower}
        box = "".join(f"<{edge}>{value:g}</{edge}>" for edge, value in edges.items())
        text(
            root / "Annotations" / f"{one.stem}.xml",
            f"<annotation><filename>{name}</filename><size><width>{width}</width>"
            f"<height>{height}</height></size><object><name>cone</name><bndbox>{box}</bndbox>"
            "</object></annotation>",
        )


def dota(root, frame):
    for one in photographs(frame):
        turned.write(root / "images", one)
        corners = " ".join(f"{value:g}" for value in one.outline)
        text(root / "labelTxt" / f"{one.stem}.txt", f"{corners} cone 0\n")


def yolo(root, frame, values=None):
    for one in photographs(frame):
        turned.write(root / "images", one)
        (height, width), (upper, left, lower, right) = one.size, one.box
        sides = np.array([width, height])
        if values == "corners":
            shares = np.reshape(one.outline, [4, 2]) / sides
        else:
            centre = np.array([left + right, upper + lower]) / 2
            shares = np.array([centre, [right - left, lower - upper]]) / sides
        line = " ".join(map(str, [0, *shares.ravel().tolist()]))
        text(root / "labels" / f"{one.stem}.txt", line)
    text(root / "classes.txt", "cone\n")


def yolo_corners(root, frame):
    yolo(root, frame, "corners")


def labelme(root, frame):
    for one in photographs(frame):
        upper, left, lower, right = one.box
        shape = {"label": "cone", "points": [[left, upper], [right, lower]]}
        shape |= {"shape_type": "rectangle", "flags": {}, "group_id": None}
        content = {"version": "5.4.1", "flags": {}, "shapes": [shape], "imageData": None}
        content["imagePath"] = turned.write(root, one).name
        content["imageHeight"], content["imageWidth"] = one.size
        text(root / f"{one.stem}.json", content)


def masks(root, frame):
    """Writes masks without a tag, or, as `tagged`, stored as the photographs, with their tags."""
    (root / "masks").mkdir(parents=True)
    for one in photographs("stored" if frame == "tagged" else frame):
        turned.write(root / "images", one)
        options = {"exif": turned.tags(one.orientation)} if frame == "tagged" else {}
        Image.fromarray(one.mask).save(root / "masks" / f"{one.stem}.png", **options)
    text(root / "classes.txt", "background\ncone\n")


def panoptic(root, frame):
    """Writes COCO's panoptic masks: the pixels of an object have its number as their colour."""
    content = {"images": [], "annotations": [], "categories": []}
    content["categories"] = [{"id": 1, "name": "ground"}, {"id": 2, "name": "cone"}]
    folder = root / "annotations" / "panoptic_train2017"
    folder.mkdir(parents=True)
    for one in photographs(frame):
        name = turned.write(root / "train2017", one).name
        numbers = np.stack([one.mask + 1, one.mask * 0, one.mask * 0], -1)
        Image.fromarray(numbers).save(folder / f"{one.stem}.png")
        content["images"].append({"id": one.orientation, "file_name": name})
        segments = [{"id": number, "category_id": number} for number in (1, 2)]
        mask = {"file_name": f"{one.stem}.png", "segments_info": segments}
        content["annotations"].append({"image_id": one.orientation, **mask})
    text(root / "annotations" / "panoptic_train2017.json", content)


def converted(converter, write, *options):
    """Returns a function that writes records, by a converter."""

    def convert(root, frame):
        write(root.parent / "source", frame)
        words = ["convert", converter, root.parent / "source", root, "--shards", "1", *options]
        assert main([*map(str, words)]) == 0

    return convert


@dataclasses.dataclass(frozen=True)
class Case:
    """A data set and its input.

    Attributes:
      write: takes a folder and the frame of the annotations.
      place: module and class of the input, below `tf_frame_PLUGIN.inputs`.
      options: of the input.
      frame: see `Annotated`.
      serves: whether predictions and served files are compared, too.
    """

    write: object
    place: str
    options: dict = dataclasses.field(default_factory=dict)
    frame: str = "shown"
    serves: bool = False


def boxes(write, place, frame="shown", *, serves=False, **options):
    return Case(write, f"detection.{place}", {**BOXES, **options}, frame, serves)


def areas(write, place, frame="shown", *, serves=False, **options):
    return Case(write, f"deeplab.{place}", {**MASKS, **options}, frame, serves)


def classes(write, place, *, serves=False):
    options = {"image_size": 32, "channels": 3}
    return Case(write, f"classification.{place}", options, serves=serves)


def texts(write, place, *, serves=False):
    options = {"image_size": (16, 40), "max_length": 4, "channels": 3}
    return Case(write, f"recognition.{place}", options, serves=serves)


RECORDS = "detection_tfrecord:DetectionTfrecord"
MASK_RECORDS = "segmentation_tfrecord:SegmentationTfrecord"
NONE_HELD_OUT = ("--eval_fraction", "0")
INPUTS = {
    "image_folder": classes(class_folders, "image_folder:ImageFolder", serves=True),
    "image_tfrecord": classes(class_records, "image_tfrecord:ImageTfrecord"),
    "text_folder": texts(words, "text_folder:TextFolder", serves=True),
    "text_tfrecord": texts(word_records, "text_tfrecord:TextTfrecord"),
    "coco_json": boxes(coco, "coco_json:CocoJson", serves=True),
    "coco_json, stored": boxes(coco, "coco_json:CocoJson", "stored", boxes_on="stored"),
    "voc_xml": boxes(voc, "voc_xml:VocXml"),
    "voc_xml, stored": boxes(voc, "voc_xml:VocXml", "stored", boxes_on="stored"),
    "dota": boxes(dota, "dota:Dota", rotated=True),
    "dota, stored": boxes(dota, "dota:Dota", "stored", rotated=True, boxes_on="stored"),
    "yolo": boxes(yolo, "yolo:Yolo"),
    "yolo, stored": boxes(yolo, "yolo:Yolo", "stored", boxes_on="stored"),
    "yolo, corners": boxes(yolo_corners, "yolo:Yolo", rotated=True),
    "labelme": boxes(labelme, "labelme:Labelme"),
    "detection_tfrecord": boxes(box_records, RECORDS),
    "detection_tfrecord, stored": boxes(box_records, RECORDS, "exchanged"),
    "segmentation_folder": areas(masks, "segmentation_folder:SegmentationFolder"),
    "segmentation_folder, stored": areas(
        masks, "segmentation_folder:SegmentationFolder", "exchanged", serves=True
    ),
    "segmentation_folder, tagged": areas(masks, "segmentation_folder:SegmentationFolder", "tagged"),
    "segmentation_tfrecord": areas(mask_records, MASK_RECORDS),
    "segmentation_tfrecord, stored": areas(mask_records, MASK_RECORDS, "exchanged"),
    "coco_masks": areas(coco, "coco_masks:CocoMasks", instances=True),
    "coco_masks, stored": areas(coco, "coco_masks:CocoMasks", "exchanged", masks_on="stored"),
    "yolo_masks": areas(yolo_corners, "yolo_masks:YoloMasks"),
    "labelme_masks": areas(labelme, "labelme_masks:LabelmeMasks"),
}
# Boxes, prediction and serving; the converter below has masks.
IN_EVERY_SUITE = list(INPUTS).index("coco_json")
CONVERTED = {
    "segmentation_folder": areas(
        converted("segmentation_folder", masks, *NONE_HELD_OUT), MASK_RECORDS, "exchanged"
    ),
    "coco_json": boxes(
        converted("coco_json", coco, "--boxes_on", "stored", *NONE_HELD_OUT), RECORDS, "stored"
    ),
    "image_folder": classes(
        converted("image_folder", class_folders), "image_tfrecord:ImageTfrecord"
    ),
    "voc_xml": boxes(converted("voc_xml", voc, *NONE_HELD_OUT), RECORDS),
    "dota": boxes(converted("dota", dota, *NONE_HELD_OUT), RECORDS),
    "yolo": boxes(converted("yolo", yolo, *NONE_HELD_OUT), RECORDS),
    "labelme": boxes(converted("labelme", labelme, *NONE_HELD_OUT), RECORDS),
    "coco_masks": areas(converted("coco_masks", coco, *NONE_HELD_OUT), MASK_RECORDS),
    "yolo_masks": areas(converted("yolo_masks", yolo_corners, *NONE_HELD_OUT), MASK_RECORDS),
    "labelme_masks": areas(converted("labelme_masks", labelme, *NONE_HELD_OUT), MASK_RECORDS),
    "coco_panoptic": areas(
        converted("coco_panoptic", panoptic, "--split", "train"), MASK_RECORDS, "exchanged"
    ),
}


def make_input(case, folder):
    place, name = case.place.split(":")
    plugin, module = place.split(".")
    module = importlib.import_module(f"tf_frame_{plugin}.inputs.{module}")
    names = {field.name for field in dataclasses.fields(module.Params)}
    plain = {key: value for key, value in PLAIN.items() if key in names}
    params = module.Params(data_dir=str(folder), **plain, **case.options)
    return getattr(module, name)(params=params)


def check_labels(number, labels):
    """Compares the labels of the photograph of an orientation, a batch of one."""
    if "boxes" in labels:
        upper, left, lower, right = BOX
        outline = np.reshape([left, upper, right, upper, right, lower, left, lower], [4, 2])
        if labels["boxes"].shape[-1] == 4:
            np.testing.assert_allclose(labels["boxes"][0][0], BOX, atol=1e-4)
        if "corners" in labels:
            corners = np.reshape(labels["corners"][0][0], [4, 2])
            assert {*map(tuple, corners.round(3).tolist())} == {
                (float(y), float(x)) for x, y in outline.tolist()
            }
    elif "semantic" in labels:
        np.testing.assert_array_equal(labels["semantic"][0], turned.shown_mask())
        if "instances" in labels:
            np.testing.assert_array_equal(labels["instances"][0] > 0, turned.shown_mask())
    elif "label" in labels:
        assert labels["label"].tolist() == [number - 1]
    else:
        assert labels["text"].shape[0] == 1


def check(case, root):
    case.write(root / "data", case.frame)
    of_masks = ("masks", "panoptic_train2017")
    by_name = {path.name: path for path in root.rglob("p?.*") if path.parent.name not in of_masks}
    paths = [by_name[one.name] for one in photographs()]
    with tf.Graph().as_default():
        source = make_input(case, root / "data")
        forms, shown = source.raw_serving(), np.stack([*map(turned.shown_by_pillow, paths)])
        elements = read_elements(source.dataset(Mode.TRAIN, InputContext(batch_size=1)), 8)
        # A converter of classes shuffles; each photograph is of a class of its own.
        elements.sort(key=lambda element: int(element[1].get("label", [0])[0]))
        expected = [forms["pixels"].features({"image": tf.constant(shown)})["image"]]
        images = [np.concatenate([features["image"] for features, _ in elements])]
        if case.serves:
            known = [path.read_bytes() for path in paths if path.suffix != ".tiff"]
            expected.append(forms["encoded"].features({"image_bytes": tf.constant(known)})["image"])
            dataset = source.prediction_dataset([*map(str, paths)], InputContext(batch_size=1))
            images.append(np.concatenate([one["image"] for one in read_elements(dataset, 8)]))
        with tf.Session() as session:
            reference, *served = session.run(expected)
    for read in images:
        np.testing.assert_array_equal(read, reference)
    for read in served:
        is_known = [path.suffix != ".tiff" for path in paths]
        np.testing.assert_array_equal(read, reference[is_known])
    for number, (_, labels) in enumerate(elements, 1):
        check_labels(number, labels)


@pytest.mark.parametrize("name", slow_but(IN_EVERY_SUITE, INPUTS))
def test_images_and_labels_are_as_pillow_shows_the_image(tmp_path, name):
    check(INPUTS[name], tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", CONVERTED)
def test_records_of_converters_hold_the_image_as_shown(tmp_path, name):
    check(CONVERTED[name], tmp_path)
