"""Folders become records, which the input reads back as the folder's own input reads them."""

import functools
import re
import shutil

import numpy as np
import pytest
import tensorflow.compat.v1 as tf
from PIL import Image

import exported_layouts
from sessions import compute, run_initialized
from slow_cases import slow_but
from tf_frame import InputContext, Mode
from tf_frame.cli.main import main
from tf_frame.testing.elements import read_elements
from tf_frame_detection.inputs import dota
from tf_frame_detection.inputs.detection_records import in_pixels
from tf_frame_detection.inputs.detection_tfrecord import DetectionTfrecord, Params
from tfrecords import make_example, write_records

pytestmark = pytest.mark.usefixtures("graph")

PLAIN = {"image_size": (), "data_augmentation": (), "shuffle_buffer": 0}
LINES = {
    "a": ["10 4 16 10 10 16 4 10 cat 0", "20 4 30 4 30 20 20 20 dog 1"],
    "b": [],
    "c": ["1 1 9 1 9 9 1 9 dog 0"],
}


def write(root):
    for split, names in (("train", "ab"), ("val", "c")):
        for folder in ("images", "labelTxt"):
            (root / split / folder).mkdir(parents=True)
        for name in names:
            pixels = np.random.RandomState(ord(name)).randint(0, 256, [24, 32, 3])
            image = Image.fromarray(pixels.astype(np.uint8))
            image.save(root / split / "images" / f"{name}.png")
            (root / split / "labelTxt" / f"{name}.txt").write_text("\n".join(LINES[name]))
    return root


def convert(folder, *options):
    words = ["convert", "dota", folder / "source", folder / "records", "--shards", "1", *options]
    return main([*map(str, words)])


def take(of, mode):
    return read_elements(of.dataset(mode, InputContext(batch_size=2)), 1)[0]


def test_records_are_read_back_as_the_folder_is(tmp_path, capsys):
    write(tmp_path / "source")
    assert convert(tmp_path) == 0
    assert "train: 2 images of 2 classes in 1 shard" in capsys.readouterr().out
    records = str(tmp_path / "records")
    read = DetectionTfrecord(params=Params(data_dir=records, rotated=True, **PLAIN))
    params = dota.Params(data_dir=str(tmp_path / "source"), rotated=True, **PLAIN)
    folder = dota.Dota(params=params)
    assert read.info == folder.info
    found, expected = (take(of, Mode.TRAIN) for of in (read, folder))
    for one, other in zip(found, expected, strict=True):
        assert one.keys() == other.keys()
        for name in one.keys() - {"name"}:
            np.testing.assert_allclose(one[name], other[name], atol=1e-4, err_msg=name)
    assert found[1]["ignored"].tolist() == [[False, True], [False, False]]


def test_a_split_of_which_nothing_can_be_used_is_named(tmp_path, capsys):
    root = write(tmp_path / "source")
    (root / "val" / "labelTxt" / "c.txt").unlink()
    (root / "val" / "images" / "c.png").rename(root / "val" / "images" / "d.png")
    assert convert(tmp_path) == 2
    assert "d.png has no annotation: write" in capsys.readouterr().err
    for path in root.glob("*/*/*"):
        path.unlink()
    (root / "classes.txt").write_text("cat\n")
    assert convert(tmp_path) == 2
    assert "there is no photograph to convert" in capsys.readouterr().err


def test_records_have_the_keys_of_the_object_detection_api(tmp_path):
    write(tmp_path / "source")
    (tmp_path / "source/train/labelTxt/b.txt").write_text("1 2 3\n")
    assert convert(tmp_path) == 2
    assert convert(tmp_path, "--skip_corrupt") == 0
    data = tf.data.TFRecordDataset(str(tmp_path / "records" / "train-00000-of-00001"))
    feature = tf.train.Example.FromString(read_elements(data, 1)[0]).features.feature
    floats = {edge: feature[f"image/object/bbox/{edge}"].float_list.value[1] for edge in EDGES}
    np.testing.assert_allclose(list(floats.values()), [4 / 24, 20 / 32, 20 / 24, 30 / 32])
    assert list(feature["image/object/class/label"].int64_list.value) == [1, 2]
    assert list(feature["image/object/class/text"].bytes_list.value) == [b"cat", b"dog"]
    assert list(feature["image/object/difficult"].int64_list.value) == [0, 1]
    assert feature["image/height"].int64_list.value[0] == 24


EDGES = ("ymin", "xmin", "ymax", "xmax")
RECORD = {
    "edges": [[0.1, 0.1, 0.5, 0.5]],
    "image/object/class/label": [2],
    "image/height": [8],
    "image/width": [8],
}
# Change of a record, and what is said of it.
BAD = {
    "nothing": ({}, ""),
    "a text instead of a label": (
        {"image/object/class/label": [], "image/object/class/text": [b"dog"]},
        "",
    ),
    "class": ({"image/object/class/label": [3]}, "a class that the label map does not have"),
    "no class": ({"image/object/class/label": []}, "another number of image/object/class/label"),
    "nan": ({"edges": [[0.1, float("nan"), 0.5, 0.5]]}, "an edge that is no number"),
    "inverted": ({"edges": [[0.5, 0.1, 0.1, 0.5]]}, "a box is inverted"),
    "empty": ({"edges": [[0.5, 0.1, 0.5, 0.5]]}, "a box is empty"),
    "pixels": ({"edges": [[1.0, 2.0, 3.0, 4.0]]}, "a box lies outside of the image"),
    "size": ({"image/height": [9]}, "has another size than image/height"),
    "flags": ({"image/object/is_crowd": [0, 1]}, "another number of image/object/is_crowd"),
    "image": ({"image/encoded": [b"no"]}, "it is no JPEG, PNG, GIF"),
    "no image": ({"image/encoded": []}, "it has not one image/encoded"),
    "type": ({"image/object/class/label": [2.0]}, "class/label is of type float_list, but must"),
}


@pytest.mark.slow
@pytest.mark.parametrize("is_optimised", slow_but(1, [False, True]))
def test_records_that_cannot_be_used_are_named(tmp_path, monkeypatch, is_optimised):
    if is_optimised:  # As a run is; Grappler once left out the op that fails.
        config = tf.ConfigProto()
        config.graph_options.rewrite_options.dependency_optimization = 1
        monkeypatch.setattr(tf, "Session", functools.partial(tf.Session, config=config))
    png = compute(tf.io.encode_png, np.zeros([8, 8, 3], np.uint8))
    records = []
    for changes, _ in BAD.values():
        values = {"image/encoded": [png], **RECORD, **changes}
        edges = np.array(values.pop("edges")).T.tolist()
        for name, column in zip(EDGES, edges, strict=True):
            values[f"image/object/bbox/{name}"] = column
        records.append(make_example({key: content for key, content in values.items() if content}))
    write_records(tmp_path / "train-00000-of-00001", records)
    (tmp_path / "classes.txt").write_text("cat\ndog\n")
    params = Params(data_dir=str(tmp_path), classes=str(tmp_path / "classes.txt"), **PLAIN)
    of = DetectionTfrecord(params=params)
    order = tf.data.Dataset.range(len(BAD)).map(lambda number: (number, number))
    examples = of.read(of.splits[Mode.TRAIN], order).map(lambda n, each: of.checked(each))
    found = [each["problem"].decode() for each in read_elements(examples)]
    for number, (problem, (kind, (_, expected))) in enumerate(zip(found, BAD.items(), strict=True)):
        assert expected in problem, (kind, problem)
        assert bool(problem) == bool(expected), (kind, problem)
        assert not problem or f"train-00000-of-00001: record {number} " in problem


@pytest.mark.parametrize(
    ("corners", "problem"),
    [
        ([[0.1, 0.1], [0.1, 0.9], [0.7, 0.9], [0.7, 0.1]], ""),
        ([[0.1, 0.1], [0.7, 0.9], [0.1, 0.9], [0.7, 0.1]], "rec: four corners of a box enclose no"),
        ([[0.1, 0.1], [0.1, float("nan")], [0.7, 0.9], [0.7, 0.1]], "rec: a box has a corner that"),
    ],
)
def test_corners_of_records_are_checked(corners, problem):
    example = {
        "image": tf.zeros([30, 40, 3], tf.uint8),
        "size": tf.constant([30, 40]),
        "boxes": tf.constant([[0.1, 0.1, 0.7, 0.9]]),
        "corners": tf.constant([corners]),
        "name": tf.constant("rec"),
        "problem": tf.constant(""),
    }
    found = run_initialized(in_pixels(example)["problem"]).decode()
    assert found.startswith(problem) and bool(found) == bool(problem)


# Layout -> its part to evaluate, which is copied as a part for tests.
PARTS = {
    "ultralytics": ["images/val", "labels/val"],
    "roboflow_yolo": ["valid"],
    "roboflow_coco": ["valid"],
    "roboflow_voc": ["valid"],
    "coco_2017": ["annotations/instances_val2017.json", "val2017"],
}


@pytest.mark.parametrize("layout", PARTS)
def test_a_test_part_is_converted_and_notes_are_printed(tmp_path, capsys, layout):
    source, records = tmp_path / "source", tmp_path / "records"
    getattr(exported_layouts, layout)(source)
    for name in PARTS[layout]:
        copy = source / name.replace("valid", "test").replace("val", "test")
        (shutil.copytree if (source / name).is_dir() else shutil.copy)(source / name, copy)
    if layout == "ultralytics":
        yaml = source / "data.yaml"
        yaml.write_text(yaml.read_text().replace("test: #", "test: images/test #"))
        (source / "labels/train/p0.txt").unlink()
    form = exported_layouts.DETECTION[getattr(exported_layouts, layout)]
    assert main(["convert", form, str(source), str(records), "--shards", "1"]) == 0
    printed = capsys.readouterr()
    assert [*re.findall(r"^(\w+): (\d) image", printed.out, re.MULTILINE)] == [
        ("train", "3"),
        ("val", "1"),
        ("test", "1"),
    ]
    assert "is not used" not in printed.err
    assert ("1 images have no label file" in printed.err) == (layout == "ultralytics")
    read = DetectionTfrecord(params=Params(data_dir=str(records), eval_split="test", **PLAIN))
    assert read.info.num_examples[Mode.EVAL] == 1
