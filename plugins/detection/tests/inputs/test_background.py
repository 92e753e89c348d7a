"""The background is no class of objects, whatever its name and the form of the annotations."""

import importlib
import re

import numpy as np
import pytest

from tf_frame import Mode
from tf_frame.errors import DataError
from tf_frame_detection.inputs.annotated_images import AnnotatedFolder

NAMES = {
    "coco_json": "_background_",
    "voc_xml": "__background__",
    "dota": "bg",
    "yolo": "background",
    "labelme": "__background__",
}


def read(name, folder):
    module = importlib.import_module(f"tf_frame_detection.inputs.{name}")
    kind = next(
        one
        for one in vars(module).values()
        if isinstance(one, type) and issubclass(one, AnnotatedFolder) and one is not AnnotatedFolder
    )
    return kind(params=kind.Params(data_dir=str(folder), data_augmentation=()))


def rename(folder, **names):
    for path in folder.rglob("*"):
        if path.suffix in (".json", ".xml", ".txt", ".yaml"):
            text = path.read_text()
            for old, new in names.items():
                text = re.sub(rf"\b{old}\b", new, text)
            path.write_text(text)


@pytest.mark.parametrize("name", NAMES)
def test_the_background_and_its_boxes_are_left_out(forms, tmp_path, name):
    folder = getattr(forms, name)(tmp_path)
    rename(folder, cat=NAMES[name])
    of = read(name, folder)
    assert of.info.class_names == ("dog",)
    photographs = {one.path.stem: one.marks for one in of.splits[Mode.TRAIN].content}
    numbers = {stem: [mark.number for mark in marks] for stem, marks in photographs.items()}
    assert numbers == {"a": [0], "b": [], "c": [0]}
    (mark,) = photographs["a"]
    np.testing.assert_allclose(mark.box, (4, 20, 20, 30), atol=1e-4)
    assert of.splits[Mode.EVAL].content.counts.tolist() == [0]
    if name == "coco_json":
        assert list(of.class_ids) == [18]


def test_a_data_set_of_background_alone_is_refused(forms, tmp_path):
    folder = forms.yolo(tmp_path)
    rename(folder, cat="bg", dog="background")
    with pytest.raises(DataError, match="names no class but the background"):
        read("yolo", folder)
