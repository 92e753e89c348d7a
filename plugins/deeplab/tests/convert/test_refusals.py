"""Conversions that are refused, stopped or of damaged folders."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from converted_masks import (
    SIZE,
    ade20k,
    cityscapes,
    coco_panoptic,
    own_folder,
    random_image,
    random_mask,
    read_masks,
    save,
    voc,
)
from tf_frame_deeplab.convert import examples


def contents(folder):
    return {path.name: path.read_bytes() for path in Path(folder).iterdir() if path.is_file()}


def change_first(root, kind, **values):
    """Changes values of the first image or annotation."""
    path = root / "annotations/panoptic_train2017.json"
    content = json.loads(path.read_text())
    content[kind][0].update(values)
    path.write_text(json.dumps(content))


def change_segments(root, segments):
    change_first(root, "annotations", segments_info=segments)


def remove(name):
    return lambda root: next(root.rglob(name)).unlink()


def replace(name, value, size=SIZE):
    return lambda root: save(next(root.rglob(name)), np.full(size, value, np.uint8))


DAMAGE = {
    "no mask": (voc, remove("a.png"), r"a.jpg has no mask \S+SegmentationClass/a.png or "),
    "no image": (voc, remove("b.jpg"), r"there is no image \S+JPEGImages/b.jpg"),
    "no list": (voc, remove("val.txt"), r"\S+val.txt cannot be read: No such file"),
    "a class out of range": (voc, replace("a.png", 21), "a.png has the value 21, which is no"),
    "another size": (
        voc,
        replace("b.png", 0, (8, 7)),
        "b.png is 8 x 7 pixels, but its image 8 x 8",
    ),
    "an unknown label id": (cityscapes, replace("aachen*Ids.png", 40), "has the value 40, which"),
    "no city": (cityscapes, remove("ulm*_leftImg8bit.png"), r"val has no image CITY/NAME_left"),
    "no annotation": (ade20k, remove("ADE_train_00000001.png"), r"00001.jpg has no mask \S+png"),
    "no categories": (
        coco_panoptic,
        lambda root: (root / "annotations/panoptic_val2017.json").write_text("{}"),
        "panoptic_val2017.json has no annotations, categories, images",
    ),
    "segments that are texts": (
        coco_panoptic,
        lambda root: change_segments(root, ["sky"]),
        "panoptic_train2017.json, '0.png': it has not the form of panoptic records",
    ),
    "an id that is no number": (
        coco_panoptic,
        lambda root: change_segments(root, [{"id": "x"}]),
        "panoptic_train2017.json, '0.png': 'x' of type str is no whole number",
    ),
    "an image with a list as id": (
        coco_panoptic,
        lambda root: change_first(root, "images", id=[[1]] * 90),
        r"2017.json, '0.jpg': \[\[1\], \[1\], .{60,70} of type list is no whole number$",
    ),
    "a segment without a category": (
        coco_panoptic,
        lambda root: save(root / "annotations/panoptic_train2017/0.png", random_image(0)),
        "panoptic_train2017/0.png has the colour",
    ),
    "another folder": (own_folder, remove("classes.txt"), "neither"),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_a_damaged_source_is_one_line(refuse, tmp_path, kind):
    layout, damage, expected = DAMAGE[kind]
    damage(layout(tmp_path / "downloads"))
    name = "voc" if layout is own_folder else layout.__name__
    error = refuse(name, tmp_path / "downloads", "--shards", "1")
    (line,) = [line for line in error.splitlines() if "shards done" not in line]
    assert re.search(expected, line), line


def test_damaged_pictures_may_be_left_out(convert, refuse, tmp_path, capsys):
    folder = own_folder(tmp_path / "photos")
    path = folder / "masks" / "p0.png"
    path.write_bytes(path.read_bytes()[:-40])
    (folder / "train.txt").write_text("p0\np1\np2\n")
    error = refuse("segmentation_folder", folder, "--shards", "1")
    assert "p0.png: it cannot be decoded: " in error
    assert convert("segmentation_folder", folder, "--shards", "1", "--skip_corrupt") == 0
    assert "2 images of 3 classes in 1 shard; 1 corrupt images left out" in capsys.readouterr().out
    assert list(read_masks(tmp_path / "records")) == ["p1", "p2"]


def test_a_conversion_that_was_stopped_goes_on(convert, tmp_path, capsys, monkeypatch):
    folder = own_folder(tmp_path / "photos")
    options = ["--shards", "5", "--eval_fraction", "0"]
    assert convert("segmentation_folder", folder, *options, output="uninterrupted") == 0
    left, record_classes = [4], examples.record_classes

    def stopped(picture, **limits):
        left[0] -= 1
        if left[0] < 0:
            raise KeyboardInterrupt
        return record_classes(picture, **limits)

    monkeypatch.setattr(examples, "record_classes", stopped)
    assert convert("segmentation_folder", folder, *options) == 130
    names = contents(tmp_path / "records")
    assert not [name for name in names if name.endswith(".partial")]
    assert 0 < len([name for name in names if "-of-" in name]) < 5
    monkeypatch.undo()
    capsys.readouterr()
    assert convert("segmentation_folder", folder, *options) == 0
    assert "of them finished before" in capsys.readouterr().out
    assert contents(tmp_path / "records") == contents(tmp_path / "uninterrupted")


def test_other_settings_and_other_files_are_refused(convert, refuse, tmp_path):
    folder = own_folder(tmp_path / "photos")
    words = ["segmentation_folder", folder, "--shards", "2", "--eval_fraction", "0"]
    assert convert(*words) == 0
    assert "ignore_label was 255, now 254" in refuse(*words, "--ignore_label", "254")
    save(folder / "masks" / "p0.png", random_mask(7))
    assert "the files of SOURCE have changed" in refuse(*words)
    assert "--ignore_label 2 is one of the 3 classes" in refuse(*words, "--ignore_label", "2")
