"""COCO's `file_name` names one image, whichever program wrote it."""

import pytest

from tf_frame.errors import DataError
from tf_frame_vision.formats.coco_layout import CocoFile, find_image

# `file_name`, and the image that there is.
NAMES = {
    "a/1.jpg": "images/a/1.jpg",
    "a\\1.jpg": "images/a/1.jpg",
    "1.jpg": "images/1.jpg",
    "images/b/1.jpg": "images/b/1.jpg",
    "/home/me/data/b/1.jpg": "images/b/1.jpg",
    "C:\\data\\a\\1.jpg": "images/a/1.jpg",
    "../upload/1.jpg": "images/1.jpg",
    "train/caf\u00e9.jpg": "train/cafe\u0301.jpg",
    "c/2.jpg": "images/c/2.jpg",
    "x" * 300: "images/" + "x" * 300,
}


@pytest.mark.parametrize("name", NAMES)
def test_the_image_of_a_name(tmp_path, name):
    for place in ("images/1.jpg", "images/a/1.jpg", "images/b/1.jpg", "train/cafe\u0301.jpg"):
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).touch()
    file = CocoFile(tmp_path / "annotations" / "a.json", tmp_path / "images")
    assert find_image(file, name, tmp_path, outside=False) == tmp_path / NAMES[name]


def test_an_image_outside_needs_a_permission(tmp_path):
    root = tmp_path / "data"
    root.mkdir()
    (tmp_path / "1.jpg").touch()
    file = CocoFile(root / "a.json", root)
    for name in ("../1.jpg", str(tmp_path / "1.jpg")):
        with pytest.raises(DataError, match="leads out of the data folder"):
            find_image(file, name, root, outside=False)
        assert find_image(file, name, root, outside=True) == tmp_path / "1.jpg"
