"""labelme's JSON files: shapes, the images that they name, parts and classes."""

import dataclasses
import json
import re
from types import SimpleNamespace

import numpy as np
import pytest
from PIL import Image

from tf_frame.errors import DataError
from tf_frame_vision.formats.labelme import LabelmeOptions, read_labelme
from tf_frame_vision.formats.labelme_shapes import BACKGROUND

# One pixel.
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGP4DwABAQEAsTj2FAAAAABJRU5ErkJggg=="
POLYGON = [[1, 2], [5, 2], [5, 6]]


def shape(points=POLYGON, kind="polygon", label="cat", **more):
    return {"label": label, "shape_type": kind, "points": points, "group_id": None, **more}


def write(root, name, *shapes, image="a.png", **more):
    """Writes a JSON file; and the image `a.png` next to it, unless it names another."""
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if image == "a.png":
        picture(path.parent / image)
    size = {"imageHeight": 8, "imageWidth": 16}
    content = {"version": "5.5.0", "flags": {}, "imageData": None, "imagePath": image, **size}
    path.write_text(json.dumps({**content, "shapes": shapes, **more}))


def picture(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(np.zeros([8, 16, 3], np.uint8)).save(path)


def read(root, *, outside=False, **options):
    values = dataclasses.asdict(LabelmeOptions(**options))
    return read_labelme(root, SimpleNamespace(**values, eval_split="val", allow_outside=outside))


@pytest.mark.parametrize(
    ("row", "edges"),
    [
        (shape(), (2, 1, 6, 5)),
        ({"label": "cat", "points": POLYGON}, (2, 1, 6, 5)),
        (shape([[5, 6], [1, 2]], "rectangle"), (2, 1, 6, 5)),
        (shape([[1, 2], [5, 2], [5, 6], [1, 6]], "rectangle"), (2, 1, 6, 5)),
        (shape([[4, 4], [4, 6]], "circle"), (2, 2, 6, 6)),
        (shape([[1, 2], [4, 5]], "mask", mask=PNG), (2, 1, 6, 5)),
        (shape([[3, 0], [6, 3], [3, 6], [0, 3]], "rotation", direction=0.7), (0, 0, 6, 6)),
        (shape([[3, 0], [6, 3], [3, 6], [0, 3]], "oriented_rectangle"), (0, 0, 6, 6)),
    ],
)
def test_shapes(tmp_path, row, edges):
    write(tmp_path, "a.json", row)
    (image,) = read(tmp_path).training
    assert (image.shapes[0].edges, image.size, image.problems) == (edges, (8, 16), [])


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        (shape([[1, 2]], "point"), "shape 1: its point encloses nothing; remove it, or leave such"),
        (shape(POLYGON[:2]), "shape 1: its polygon has 2 points instead of 3 or more"),
        (shape(kind="rectangle"), "shape 1: its rectangle has 3 points instead of 2 or 4"),
        (shape([[1, 2], [3]]), "the points of its polygon are no list of pairs of numbers"),
        (shape([[1, "x"]] * 3), "the points of its polygon are no list of pairs of numbers"),
        (shape(None), "the points of its polygon are no list of pairs of numbers"),
        (shape([[1, float("nan")]] * 3), "a point of its polygon is not finite"),
        (shape([[1, 2], [1e300, 5]], "circle"), "a point of its circle is .* beyond any image"),
        (shape([[1, 2], [4, 5]], "mask"), "its mask is no image in base64"),
        (shape([[1, 2], [4, 5]], "mask", mask="AAAA"), "its mask cannot be used: it is no JPEG"),
        (shape(label=""), "it has no label"),
        (shape(label=None), "it has no label"),
        (shape(kind=3), "its shape_type 3 is no text"),
        ("cat", "it is no object of JSON"),
    ],
)
def test_shapes_that_are_no_objects(tmp_path, row, problem):
    write(tmp_path, "a.json", row, shape())
    (image,) = read(tmp_path).training
    assert re.search(problem, image.problems[0])
    assert [each.place for each in image.shapes] == [2]


def test_kinds_of_shapes_can_be_left_out(tmp_path):
    write(tmp_path, "a.json", shape([[1, 2]], "point"), shape())
    (image,) = read(tmp_path, left_out_shapes=("point",)).training
    assert (len(image.shapes), image.problems) == (1, [])


# The image that a file names, the image that there is, both below the folder of the file.
MOVED = {
    "as it says": ("b/x.png", "b/x.png"),
    "with the separators of Windows": (r"..\json\b\x.png", "b/x.png"),
    "next to the file": ("../images/x.png", "x.png"),
    "absolute on another machine": (r"C:\me\x.png", "x.png"),
    "renamed with the file": ("old.png", "a.png"),
    "of another format": ("old.png", "a.JPG"),
    "alone with its name": ("x.png", "../pictures/deep/x.png"),
    "without imagePath": (None, "a.png"),
    "a name that no file can have": ("x" * 300, "a.png"),
}


@pytest.mark.parametrize("case", MOVED)
def test_the_image_of_a_file(tmp_path, case):
    name, place = MOVED[case]
    write(tmp_path, "json/a.json", shape(), image=name)
    picture(tmp_path / "json" / place)
    (image,) = read(tmp_path).training
    assert image.path.resolve() == (tmp_path / "json" / place).resolve()


def test_images_that_are_missing_or_outside(tmp_path):
    write(tmp_path / "data", "a.json", shape(), image="x.png")
    assert read(tmp_path / "data").training[0].path == tmp_path / "data/x.png"
    for name in ("../x.png", "/x.png"):
        write(tmp_path / "data", "a.json", shape(), image=name)
        with pytest.raises(DataError, match="leads out of the data folder"):
            read(tmp_path / "data")
    picture(tmp_path / "x.png")
    write(tmp_path / "data", "a.json", shape(), image="../x.png")
    (image,) = read(tmp_path / "data", outside=True).training
    assert image.path.resolve() == tmp_path / "x.png"


def test_parts_classes_and_files_that_are_left_out(tmp_path):
    write(tmp_path, "train/a.json", shape(label="dog"), shape(label="__ignore__"))
    write(tmp_path, "valid/a.json")
    write(tmp_path, "test/a.json")
    picture(tmp_path / "train/new.png")
    (tmp_path / "train/config.json").write_text("{}")
    data = read(tmp_path)
    assert (data.names, len(data.training), len(data.evaluation)) == (["dog"], 1, 1)
    assert data.splits.notes() == [
        "test is not used; --input.eval_split test evaluates the test part"
    ]
    assert data.notes == [
        f"1 images have no JSON file and are left out, such as {tmp_path}/train/new.png",
        "1 JSON files have no shapes and are left out",
    ]
    for background in ("_background_", "bg"):
        (tmp_path / "labels.txt").write_text(f"__ignore__\n{background}\ncat\ndog\n")
        assert read(tmp_path).names == ["cat", "dog"]
    write(tmp_path, "train/a.json", shape(label="dog"), shape(label="bg"))
    (tmp_path / "labels.txt").unlink()
    assert read(tmp_path).names == ["dog"]
    assert [shape.label for shape in read(tmp_path).training[0].shapes] == ["dog", BACKGROUND]


def test_files_that_cannot_be_used(tmp_path):
    with pytest.raises(DataError, match="has no JSON file of labelme, with a list of shapes"):
        read(tmp_path)
    write(tmp_path, "a.json", shape())
    write(tmp_path, "b.json", shape(), image="c.png", imageHeight="tall")
    (tmp_path / "d.json").write_text("{")
    errors = [image.error for image in read(tmp_path).training]
    assert errors[0] == ""
    assert errors[1].startswith("its imageHeight 'tall' ")
    assert errors[2].startswith("it is no JSON: ")
    write(tmp_path, "e.json", shape(), image="a.png")
    with pytest.raises(DataError, match=r"both .*a\.json and .*e\.json describe .*a\.png; remove"):
        read(tmp_path)
