"""Outlines that cannot be drawn, and data of another kind, are named."""

import itertools
import json

import numpy as np
import pytest
from PIL import Image

from drawn_masks import (
    INPUTS,
    SIZE,
    WRITERS,
    change_coco,
    first,
    outline,
    shape,
    source,
    write_coco,
    write_labelme,
    write_shapes,
    write_yolo,
)
from tf_frame import Mode
from tf_frame.errors import DataError
from tf_frame_deeplab.inputs.segmentation_folder import SegmentationFolder


def label(text):
    return lambda root: (root / "labels/train/a.txt").write_text(text)


def only(*shapes):
    return lambda root: write_shapes(root / "train/a.json", *shapes)


def annotation(**fields):
    return lambda root: change_coco(root, **fields)


def without_sizes(**fields):
    """Changes the first annotation, and removes the sizes of the images."""

    def change(root):
        change_coco(root, **fields)
        path = root / "train/_annotations.coco.json"
        content = json.loads(path.read_text())
        images = [{key: image[key] for key in ("id", "file_name")} for image in content["images"]]
        path.write_text(json.dumps({**content, "images": images}))

    return change


RECTANGLE = "0 0.1 0.1 0.2 0.1 0.2 0.2 0.1 0.2"

# Input -> changes of a folder, and messages.
BAD = {
    "yolo_masks": [
        (label(f"{RECTANGLE}\n0 0.5 0.5 0.2 0.2"), "a.txt, line 2: it is a box, and no polygon"),
        (label("2 0.1 0.1 0.2 0.1 0.2 0.2"), "a.txt, line 1: its class 2 is none of the 2"),
        (label("1 0.1 0.1 0.2 0.1 0.3 0.1"), "a.txt, line 1: its outline, .* encloses nothing"),
        (lambda root: (root / "labels/train/a.txt").write_bytes(b"\xff"), "it is no text in UTF-8"),
    ],
    "labelme_masks": [
        (only(shape("cat", "line", [1, 2], [3, 4])), "a.json, shape 1: its line encloses nothing"),
        (only(shape("cat", "rectangle", [40, 2], [50, 9])), "shape 1: its outline, .* outside of"),
        (only(shape("cat", "rectangle", [4, 2], [4, 9])), "shape 1: its outline, .* encloses noth"),
        (lambda root: (root / "train/a.png").unlink(), "a.png, of .*a.json: it is missing"),
    ],
    "coco_masks": [
        (annotation(segmentation=[]), "annotation 970: it has no segmentation; leave it out, or"),
        (annotation(segmentation=[[1, 2, 3, 4]]), "annotation 970: a polygon has 4 numbers"),
        (annotation(segmentation=[[1, 2, 3, 4, 5, float("nan")]]), "a number that is not finite"),
        (annotation(segmentation=[outline(40, 2, 50, 9)]), "its outline, .* outside of the image"),
        (annotation(segmentation={"counts": [6], "size": [2, 3]}), "is drawn on 2 x 3 pixels, but"),
        (
            without_sizes(segmentation=[outline(40, 2, 50, 9)]),
            "its outline, .* outside of the i",
        ),
        (without_sizes(segmentation={"counts": [6], "size": [2, 3]}), "is 2 x 3 pixels: it is 24"),
        (annotation(category_id=9), "its category 9 is none of the file's"),
        (annotation(image_id=9), "annotation 970: there is no image 9"),
    ],
}


@pytest.mark.parametrize(
    ("name", "case"), [(name, case) for name, cases in BAD.items() for case in cases]
)
def test_objects_that_cannot_be_drawn_take_their_image_out(tmp_path, name, case):
    spoil, message = case
    folder = WRITERS[name](tmp_path)
    spoil(folder)
    with pytest.raises(DataError, match=message) as caught:
        source(name, folder)
    assert "\n" not in str(caught.value)
    of = source(name, folder, skip_corrupt=True)
    assert len(of.splits[Mode.TRAIN].damaged) == 1


def test_data_with_boxes_alone_is_named(tmp_path):
    folder = write_yolo(tmp_path / "yolo")
    label("0 0.5 0.5 0.2 0.2")(folder), (folder / "labels/val/c.txt").write_text("")
    with pytest.raises(DataError, match="has YOLO's boxes and no polygons.* --input yolo"):
        source("yolo_masks", folder)
    folder = write_coco(tmp_path / "coco")
    for path in folder.glob("*/*.json"):
        path.write_text(json.dumps(without_outlines(json.loads(path.read_text()))))
    with pytest.raises(DataError, match="nothing to draw; boxes are for .* --input coco_json"):
        source("coco_masks", folder)


def without_outlines(content):
    return {**content, "annotations": [{**a, "segmentation": []} for a in content["annotations"]]}


def test_sizes_of_stored_pixels_need_an_answer(tmp_path):
    folder = write_labelme(tmp_path)
    path = folder / "train/a.png"
    image, exif = Image.open(path), Image.Exif()
    exif[0x0112] = 6
    image.save(path, exif=exif)
    with pytest.raises(DataError, match="are stored so, and shown as 32 x 24; say on which"):
        source("labelme_masks", folder)
    # The mask on the stored pixels is turned clockwise; that on the shown picture is not.
    of = source("labelme_masks", folder, masks_on="stored")
    canvas = of.splits[Mode.TRAIN].content.canvases[0]
    assert (canvas.height, canvas.width, canvas.orientation) == (*SIZE, 6)
    of = source("labelme_masks", folder, masks_on="shown")
    canvas = of.splits[Mode.TRAIN].content.canvases[0]
    assert (canvas.height, canvas.width, canvas.orientation) == (*SIZE[::-1], 1)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("names", "classes"),
    [
        (["cat", "__background__"], ["background", "cat"]),
        (["Background", "cat"], ["Background", "cat"]),
        (["cat", "bg"], ["bg", "cat"]),
        (["cat", "bg", "_background_"], ["bg", "cat"]),
    ],
)
def test_a_class_that_is_the_background(tmp_path, names, classes):
    folder = write_yolo(tmp_path)
    (folder / "classes.txt").write_text("\n".join(names))
    (folder / "labels/train/a.txt").write_text(f"{names.index('cat')} {RECTANGLE[2:]}")
    of = source("yolo_masks", folder)
    assert [name.strip("_") for name in of.info.class_names] == classes
    assert np.unique(first(of)[1]["semantic"][0]).tolist() == [0, 1]


@pytest.mark.parametrize(
    ("name", "other"), [*itertools.permutations(INPUTS, 2), *(("", other) for other in INPUTS)]
)
def test_data_of_another_format_is_named(tmp_path, name, other):
    folder = WRITERS[other](tmp_path)
    kind = INPUTS.get(name, SegmentationFolder)
    with pytest.raises(DataError, match=f"{tmp_path}/.* is .*: --input {other}$") as caught:
        kind(params=kind.Params(data_dir=str(folder)))
    assert "\n" not in str(caught.value)
