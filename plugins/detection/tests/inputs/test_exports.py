"""The inputs `yolo` and `labelme` and their converters: boxes in pixels, rotated boxes, damage."""

import importlib
import json

import numpy as np
import pytest

from tf_frame import InputContext, Mode
from tf_frame.cli.main import main
from tf_frame.errors import ConfigError, DataError
from tf_frame.testing.elements import read_elements
from tf_frame_detection.inputs.detection_tfrecord import DetectionTfrecord
from tf_frame_detection.inputs.labelme import Labelme
from tf_frame_detection.inputs.yolo import Yolo

PLAIN = {"image_size": (), "data_augmentation": (), "shuffle_buffer": 0}
INPUTS = {"yolo": Yolo, "labelme": Labelme}


def source(kind, folder, **params):
    return kind(params=kind.Params(data_dir=str(folder), **{**PLAIN, **params}))


def take(of, mode):
    return read_elements(of.dataset(mode, InputContext(batch_size=3)), 1)[0]


def marks(of, field):
    photographs = of.splits[Mode.TRAIN].content
    return [[getattr(mark, field) for mark in photograph.marks] for photograph in photographs]


@pytest.mark.parametrize("name", INPUTS)
def test_boxes_are_in_pixels(forms, tmp_path, name):
    folder = getattr(forms, name)(tmp_path / "data")
    of = source(INPUTS[name], folder, rotated=True)
    assert of.info.num_examples == {Mode.TRAIN: 3, Mode.EVAL: 1, Mode.PREDICT: 1}
    assert of.info.class_names == ("cat", "dog")
    expected = [[(3, 2, 9, 12), (4, 20, 20, 30)], [], [(5, 5, 21, 9)]]
    for boxes, expected_boxes in zip(marks(of, "box"), expected, strict=True):
        np.testing.assert_allclose(boxes, expected_boxes)
    assert marks(of, "number") == [[0, 1], [], [1]]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "options"), [("yolo", []), ("labelme", ["--rotated"])])
def test_records_have_the_same_boxes(forms, tmp_path, capsys, name, options):
    folder = getattr(forms, name)(tmp_path / "data")
    of = source(INPUTS[name], folder, rotated=True)
    records = str(tmp_path / "records")
    assert main(["convert", name, str(folder), records, "--shards", "1", *options]) == 0
    assert "train: 3 images of 2 classes in 1 shard" in capsys.readouterr().out
    read = take(source(DetectionTfrecord, records, rotated=True), Mode.TRAIN)
    for one, other in zip(take(of, Mode.TRAIN), read, strict=True):
        for key in one.keys() - {"name"}:
            np.testing.assert_allclose(one[key], other[key], atol=1e-4, err_msg=key)


def test_a_polygon_of_yolo_gives_the_box_around_it(forms, tmp_path):
    folder = forms.yolo(tmp_path)
    (folder / "train/labels/a.txt").write_text("1 0.25 0.5 0.75 0.25 0.5 0.75\n")
    assert marks(source(Yolo, folder), "box")[0] == [(6, 8, 18, 24)]
    with pytest.raises(DataError, match="has segments and no rotated boxes of four points; leave"):
        source(Yolo, folder, rotated=True)


def test_damaged_lines_of_yolo_are_named_or_take_their_image_out(forms, tmp_path):
    folder = forms.yolo(tmp_path)
    path = folder / "train/labels/a.txt"
    path.write_text(f"{path.read_text()}\n1 12 12 16 12 16 20 12 20\n")
    with pytest.raises(DataError, match=r"labels/a.txt, line 3: its numbers, such as 20, are pix"):
        source(Yolo, folder)
    (folder / "train/labels/c.txt").write_bytes(b"\xff")
    with pytest.raises(DataError, match=r"labels/c.txt: it cannot be read: it is no text in UTF-8"):
        source(Yolo, folder)
    (folder / "train/labels/b.txt").write_text("1 0.25 0.5 0.75 0.25 0.5 0.75 0.25 0.25\n")
    of = source(Yolo, folder, skip_corrupt=True)
    assert [one.path.name for one in of.splits[Mode.TRAIN].content] == ["b.png"]
    assert len(of.splits[Mode.TRAIN].damaged) == 2


def shape(kind, *points, label="cat", group=None):
    return {"label": label, "shape_type": kind, "points": points, "group_id": group}


SQUARE = ([4, 10], [10, 4], [16, 10], [10, 16])


def write_shapes(folder, *shapes):
    path = folder / "train/a.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "shapes": shapes}))


def test_shapes_of_labelme_that_are_one_object_or_none(forms, tmp_path):
    folder = forms.labelme(tmp_path)
    write_shapes(
        folder,
        shape("rectangle", [1, 2], [4, 6], group=1),
        shape("polygon", *SQUARE, group=1),
        shape("rectangle", [1, 2], [4, 6], label="dog", group=1),
        shape("circle", [9, 9], [9, 12], label="__ignore__"),
        shape("circle", [9, 9], [9, 12], label="bg"),
    )
    of = source(Labelme, folder)
    assert marks(of, "box")[0] == [(2, 1, 16, 16), (2, 1, 6, 4), (6, 6, 12, 12)]
    assert marks(of, "number")[0] == [0, 1, 0]
    assert marks(of, "ignored")[0] == [False, False, True]


def test_rotated_boxes_of_labelme(forms, tmp_path):
    folder = forms.labelme(tmp_path)
    write_shapes(folder, shape("rotation", *SQUARE), shape("polygon", *SQUARE))
    of = source(Labelme, folder, rotated=True)
    assert marks(of, "corners")[0] == [(10, 4, 4, 10, 10, 16, 16, 10)] * 2
    for wrong, message in (
        (shape("polygon", *SQUARE[:3]), "shape 1: its polygon has 3 points; --input.rotated needs"),
        (shape("circle", [9, 9], [9, 12]), "shape 1: its circle has no four corners"),
    ):
        write_shapes(folder, wrong)
        with pytest.raises(DataError, match=message):
            source(Labelme, folder, rotated=True)


def test_damaged_shapes_of_labelme_are_named(forms, tmp_path):
    folder = forms.labelme(tmp_path)
    (folder / "classes.txt").write_text("cat\ndog\n")
    for wrong, message in (
        (shape("polygon", [1, 2]), "a.json, shape 1: its polygon has 1 points instead of 3"),
        (
            shape("rectangle", [1, 2], [3, 4], label="cow"),
            "shape 1: its class 'cow' is none of cat",
        ),
        (shape("rectangle", [1, 2], [1, 4]), "shape 1: its box, .* is empty"),
    ):
        write_shapes(folder, wrong)
        with pytest.raises(DataError, match=message):
            source(Labelme, folder)
    assert len(source(Labelme, folder, skip_corrupt=True).splits[Mode.TRAIN].content) == 2


# Input that a folder is given to -> formats of folders, and the sentence about each.
LOOK_ALIKES = {
    "yolo": {"voc_xml": "a.xml is PASCAL VOC's XML", "coco_json": "json is COCO's JSON"},
    "labelme": {"coco_json": "json is COCO's JSON", "yolo": "a.txt is YOLO-OBB"},
    "coco_json": {"labelme": "a.json is labelme's JSON", "yolo": "a.txt is YOLO-OBB"},
    "voc_xml": {"yolo": "a.txt is YOLO-OBB", "labelme": "a.json is labelme's JSON"},
    "dota": {"yolo": "a.txt is YOLO-OBB", "voc_xml": "a.xml is PASCAL VOC's XML"},
}


@pytest.mark.parametrize(
    ("name", "other"), [(name, other) for name, others in LOOK_ALIKES.items() for other in others]
)
def test_data_of_another_format_is_named(forms, tmp_path, capsys, name, other):
    folder = getattr(forms, other)(tmp_path / "data")
    module = importlib.import_module(f"tf_frame_detection.inputs.{name}")
    kind = next(each for each in vars(module).values() if getattr(each, "formats", ()))
    with pytest.raises((DataError, ConfigError), match=f"--input {other}$") as caught:
        source(kind, folder)
    assert LOOK_ALIKES[name][other] in str(caught.value) and "\n" not in str(caught.value)
    assert main(["convert", name, str(folder), str(tmp_path / "records")]) == 2
    assert f"{LOOK_ALIKES[name][other]}: tf-frame convert {other}\n" in capsys.readouterr().err
