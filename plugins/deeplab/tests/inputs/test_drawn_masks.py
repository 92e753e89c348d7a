"""`coco_masks`, `yolo_masks` and `labelme_masks` draw the same objects as the same masks."""

import base64
import io
import json
import shutil

import numpy as np
import pytest
import tensorflow.compat.v1 as tf
from PIL import Image, ImageOps
from pycocotools import mask as reference

from drawn_masks import (
    CLASSES,
    INPUTS,
    OBJECTS,
    PLAIN,
    SIZE,
    WRITERS,
    change_coco,
    edit_coco,
    first,
    shape,
    source,
    write_coco,
    write_labelme,
    write_shapes,
)
from slow_cases import slow_but
from tf_frame import InputContext, Mode
from tf_frame.cli.main import main
from tf_frame.errors import DataError
from tf_frame.testing.conformance import InputConformance, run_suite
from tf_frame.testing.elements import read_elements
from tf_frame.testing.exact_resume import check_exact_resume
from tf_frame_deeplab.inputs.segmentation_tfrecord import SegmentationTfrecord
from tf_frame_vision.formats import coco_file


def expected(name, *, smaller=False):
    mask = np.zeros(SIZE, np.int32)
    for left, upper, right, lower, kind in OBJECTS[name][:: -1 if smaller else 1]:
        mask[upper:lower, left:right] = CLASSES.index(kind) + 1
    return mask


@pytest.mark.parametrize("name", slow_but(0, INPUTS))
def test_objects_become_masks(tmp_path, name):
    of = source(name, WRITERS[name](tmp_path))
    assert of.info.class_names == ("background", "cat", "dog")
    assert of.info.num_examples == {Mode.TRAIN: 2, Mode.EVAL: 1, Mode.PREDICT: 1}
    is_yolo = name == "yolo_masks"
    _, labels = first(of)
    np.testing.assert_array_equal(labels["semantic"][0], expected("a", smaller=is_yolo))
    np.testing.assert_array_equal(labels["semantic"][1], expected("b"))
    features, labels = first(of, Mode.EVAL)
    np.testing.assert_array_equal(labels["semantic"][0], expected("c"))
    assert features["name"][0].endswith(b"c.png")


@pytest.mark.slow
@pytest.mark.parametrize("name", slow_but(0, INPUTS))
def test_records_have_the_same_masks(tmp_path, capsys, name):
    folder, records = str(WRITERS[name](tmp_path / "data")), str(tmp_path / "records")
    for part in [*tmp_path.rglob("val"), *tmp_path.rglob("valid")]:
        shutil.copytree(part, part.parent / "test")
    assert main(["convert", name, folder, records, "--shards", "1"]) == 0
    printed = capsys.readouterr()
    assert "train: 2 images of 3 classes in 1 shard" in printed.out
    assert "test: 1 images of 3 classes in 1 shard" in printed.out
    assert "not used" not in printed.err
    options = {**PLAIN, "data_dir": records}
    read = SegmentationTfrecord(params=SegmentationTfrecord.Params(**options))
    assert read.info.class_names == ("background", "cat", "dog")
    (features, labels), (other_features, other) = first(read), first(source(name, folder))
    np.testing.assert_array_equal(features["image"], other_features["image"])
    np.testing.assert_array_equal(labels["semantic"], other["semantic"])


@pytest.mark.slow
@pytest.mark.parametrize("name", slow_but(0, INPUTS))
def test_instances(tmp_path, name):
    of = source(name, WRITERS[name](tmp_path), instances=True, edges=True, overlap="later")
    _, labels = first(of)
    assert labels.keys() == set(of.label_names)
    instances, semantic = labels["instances"][0], labels["semantic"][0]
    assert np.unique(instances).tolist() == [0, 1, 2]
    np.testing.assert_array_equal(instances, semantic)
    assert labels["instance_center"][0].max() > 0.99


@pytest.mark.slow
@pytest.mark.parametrize("name", INPUTS)
def test_a_run_resumes_exactly(tmp_path, name):
    folder = WRITERS[name](tmp_path)
    of = source(name, folder, crop_size=(16,), augment=True, shuffle_buffer=None)
    check_exact_resume(of, batch_size=1, steps=2)


@pytest.mark.slow
@pytest.mark.parametrize("name", INPUTS)
def test_inputs_keep_their_contracts(tmp_path, name):
    options = {"data_dir": str(WRITERS[name](tmp_path)), "crop_size": (33,)}
    suite = type("TestForm", (InputConformance,), {"plugin": name, "options": options})
    assert {(each.state, each.problem) for each in run_suite(suite)} == {("ok", "")}


@pytest.mark.slow
def test_run_lengths_and_crowds_of_coco(tmp_path):
    folder = write_coco(tmp_path)
    mask = np.zeros(SIZE, np.uint8)
    mask[2:20, 1:10] = 1
    runs = reference.encode(np.asfortranarray(mask))
    text = {"counts": runs["counts"].decode(), "size": list(SIZE)}
    for crowd, value in ((0, 1), (1, 255)):
        change_coco(folder, segmentation=text, iscrowd=crowd)
        _, labels = first(source("coco_masks", folder))
        wanted = np.where(mask == 1, value, 0)
        wanted[4:20, 8:30] = 2
        np.testing.assert_array_equal(labels["semantic"][0], wanted)


@pytest.mark.slow
def test_two_records_of_an_image_of_coco_are_one_example(tmp_path):
    def divide(content):
        content["images"].append({**content["images"][0], "id": "7", "file_name": ".\\a.png"})
        content["annotations"][1].update(image_id=7.0, iscrowd="0")

    folder = write_coco(tmp_path)
    edit_coco(folder, divide)
    of = source("coco_masks", folder, instances=True)
    assert of.info.num_examples[Mode.TRAIN] == 2
    assert any(" lists 1 images more than once; each is one " in note for note in of.notes())
    _, labels = first(of)
    np.testing.assert_array_equal(labels["semantic"][0], expected("a"))
    assert {*np.unique(labels["instances"][0])} == {0, 1, 2}

    edit_coco(folder, lambda content: content["images"][2].update(height=5))
    with pytest.raises(DataError, match="image 7: another record says that .* has another size"):
        source("coco_masks", folder)
    edit_coco(folder, lambda content: content["images"][2].update(file_name="../train/a.png"))
    with pytest.raises(DataError, match=r"has several names for the image .*a\.png"):
        source("coco_masks", folder)
    edit_coco(folder, lambda content: content["images"][2].update(id=97))
    with pytest.raises(DataError, match="image 97: the file has the image id 97 twice"):
        source("coco_masks", folder)


@pytest.mark.slow
def test_the_category_that_roboflow_puts_above_all_others_is_no_class(tmp_path):
    folder = write_coco(tmp_path)
    for split in ("train", "valid"):
        path = folder / split / "_annotations.coco.json"
        content = json.loads(path.read_text())
        for category in content["categories"]:
            category["supercategory"] = "pets"
        content["categories"].insert(0, {"id": 0, "name": "pets", "supercategory": "none"})
        path.write_text(json.dumps(content))
    of = source("coco_masks", folder)
    assert of.info.class_names == ("background", *CLASSES)
    assert "the category 0, 'pets', is the root above all others" in of.notes()[0]
    np.testing.assert_array_equal(first(of)[1]["semantic"][0], expected("a"))


def test_objects_of_coco_are_kept_for_later_starts(tmp_path, monkeypatch):
    folder = write_coco(tmp_path)
    monkeypatch.setattr("tf_frame_vision.reading.cache.KEPT_AFTER_SECS", 0)
    reads = []
    read = coco_file._read
    monkeypatch.setattr(coco_file, "_read", lambda *of: reads.append(of) or read(*of))

    def masks():
        content = (of := source("coco_masks", folder)).splits[Mode.TRAIN].content
        return [of._draw(content, index)[..., 0].tolist() for index in range(2)]

    fresh = masks()
    assert masks() == fresh == [expected("a").tolist(), expected("b").tolist()]
    assert len(reads) == 2
    cache = folder / "train/.tf_frame/_annotations.coco.json.masks"
    for content in (cache.read_bytes()[:-1], b"{}", cache.read_bytes().replace(b"a.png", b"b.png")):
        cache.write_bytes(content)
        assert masks() == fresh
    assert len(reads) == 5
    change_coco(folder, category_id=2)
    assert masks() != fresh


def test_shapes_of_labelme(tmp_path):
    folder = write_labelme(tmp_path)
    buffer = io.BytesIO()
    Image.fromarray(np.array([[0, 255], [255, 255]], np.uint8)).save(buffer, "png")
    write_shapes(
        folder / "train/a.json",
        shape("cat", "circle", [10, 10], [10, 14]),
        shape("cat", "polygon", [20, 10], [24, 10], [24, 14], [20, 14], group_id=3),
        shape("cat", "polygon", [26, 10], [28, 10], [28, 14], [26, 14], group_id=3),
        shape("dog", "mask", [0, 0], [1, 1], mask=base64.b64encode(buffer.getvalue()).decode()),
        shape("__ignore__", "rectangle", [0, 20], [32, 24]),
        shape("bg", "rectangle", [20, 10], [22, 14]),
    )
    _, labels = first(source("labelme_masks", folder, instances=True))
    semantic, instances = labels["semantic"][0], labels["instances"][0]
    assert semantic[:2, :2].tolist() == [[0, 2], [2, 2]]
    assert (semantic[20:] == 255).all() and (instances[20:] == 0).all()
    assert abs((instances == 1).sum() - 16 * np.pi) < 3
    assert semantic[12, 20:29].tolist() == [0, 0, 1, 1, 0, 0, 1, 1, 0]
    assert instances[12, 20:29].tolist() == [0, 0, 2, 2, 0, 0, 2, 2, 0]


TURNS = {2: "FLIP_LEFT_RIGHT", 3: "ROTATE_180", 4: "FLIP_TOP_BOTTOM", 5: "TRANSPOSE"}

TURNS |= {6: "ROTATE_90", 7: "TRANSVERSE", 8: "ROTATE_270"}


@pytest.mark.parametrize("name", slow_but(1, ["labelme_masks", "yolo_masks"]))
def test_masks_are_of_the_image_as_it_is_shown(tmp_path, name):
    folder = WRITERS[name](tmp_path)
    (path,), (note,) = folder.rglob("a.png"), (*folder.rglob("a.txt"), *folder.rglob("a.json"))
    shown = Image.open(path)
    for orientation in range(1, 9):
        turn, exif = TURNS.get(orientation), Image.Exif()
        exif[0x0112] = orientation
        turned = path.with_name(f"{orientation}.png")
        (shown.transpose(Image.Transpose[turn]) if turn else shown).save(turned, exif=exif)
        np.testing.assert_array_equal(ImageOps.exif_transpose(Image.open(turned)), shown)
        text = note.read_text().replace("a.png", turned.name)
        note.with_name(f"{orientation}{note.suffix}").write_text(text)
    of = source(name, folder, overlap="later")
    with tf.Graph().as_default():
        context = InputContext(batch_size=8)
        ((features, labels),) = read_elements(of.dataset(Mode.TRAIN, context), 1)
    for image, mask in zip(features["image"], labels["semantic"], strict=True):
        np.testing.assert_array_equal(image, np.asarray(shown))
        np.testing.assert_array_equal(mask, expected("a"))
