"""`coco_masks`, `yolo_masks` and `labelme_masks` draw the same objects as the same masks."""

import base64
import io
import itertools
import json
import shutil

import numpy as np
import pytest
import tensorflow.compat.v1 as tf
from PIL import Image, ImageOps
from pycocotools import mask as reference

from slow_cases import slow_but
from tf_frame import InputContext, Mode
from tf_frame.cli.main import main
from tf_frame.errors import DataError
from tf_frame.testing.conformance import InputConformance
from tf_frame.testing.conformance.check import run_suite
from tf_frame.testing.elements import read_elements
from tf_frame.testing.exact_resume import check_exact_resume
from tf_frame_deeplab.inputs.coco_masks import CocoMasks
from tf_frame_deeplab.inputs.labelme_masks import LabelmeMasks
from tf_frame_deeplab.inputs.segmentation_folder import SegmentationFolder
from tf_frame_deeplab.inputs.segmentation_tfrecord import SegmentationTfrecord
from tf_frame_deeplab.inputs.yolo_masks import YoloMasks
from tf_frame_vision.formats import coco_file

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


@pytest.mark.parametrize("name", slow_but(0, INPUTS))
def test_records_have_the_same_masks(tmp_path, capsys, name):
    folder, records = str(WRITERS[name](tmp_path / "data")), str(tmp_path / "records")
    for part in [*tmp_path.rglob("val"), *tmp_path.rglob("valid")]:
        shutil.copytree(part, part.parent / "test")
    assert main(["convert", name, folder, records, "--shards", "1"]) == 0
    printed = capsys.readouterr()
    assert "train: 2 images of 3 classes in 1 shards" in printed.out
    assert "test: 1 images of 3 classes in 1 shards" in printed.out
    assert "not used" not in printed.err
    options = {**PLAIN, "data_dir": records}
    read = SegmentationTfrecord(params=SegmentationTfrecord.Params(**options))
    assert read.info.class_names == ("background", "cat", "dog")
    (features, labels), (other_features, other) = first(read), first(source(name, folder))
    np.testing.assert_array_equal(features["image"], other_features["image"])
    np.testing.assert_array_equal(labels["semantic"], other["semantic"])


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


def change_coco(root, **fields):
    """Changes the first annotation."""
    path = root / "train/_annotations.coco.json"
    content = json.loads(path.read_text())
    content["annotations"][0].update(fields)
    path.write_text(json.dumps(content))


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


def edit_coco(root, change):
    path = root / "train/_annotations.coco.json"
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))


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
        shape("_background_", "rectangle", [20, 10], [22, 14]),
    )
    _, labels = first(source("labelme_masks", folder, instances=True))
    semantic, instances = labels["semantic"][0], labels["instances"][0]
    assert semantic[:2, :2].tolist() == [[0, 2], [2, 2]]
    assert (semantic[20:] == 255).all() and (instances[20:] == 0).all()
    assert abs((instances == 1).sum() - 16 * np.pi) < 3
    assert semantic[12, 20:29].tolist() == [0, 0, 1, 1, 0, 0, 1, 1, 0]
    assert instances[12, 20:29].tolist() == [0, 0, 2, 2, 0, 0, 2, 2, 0]


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


@pytest.mark.parametrize(
    ("names", "classes"),
    [
        (["cat", "__background__"], ["background", "cat"]),
        (["Background", "cat"], ["Background", "cat"]),
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
