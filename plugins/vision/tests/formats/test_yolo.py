"""YOLO's layouts, label files and data.yaml are read as the programs that write them mean."""

import dataclasses
from types import SimpleNamespace

import numpy as np
import pytest
from PIL import Image

from tf_frame.errors import DataError
from tf_frame_vision.formats.yolo import read_yolo
from tf_frame_vision.formats.yolo_layout import YoloOptions

BOX, OTHER = "0 0.5 0.5 0.25 0.5", "1 0.25 0.25 0.5 0.5"
FOUR = "0 0.1 0.2 0.5 0.2 0.5 0.6 0.1 0.6"
ONE, CORNERS = (0.5, 0.5, 0.25, 0.5), (0.1, 0.2, 0.5, 0.2, 0.5, 0.6, 0.1, 0.6)
PIXELS = np.zeros([8, 16, 3], np.uint8)


def write(root, files):
    """Writes images and texts: path -> content; None: an image."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if content is None:
            Image.fromarray(PIXELS).save(path)
        else:
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return root


def read(root, *, eval_split="val", outside=False, **options):
    values = dataclasses.asdict(YoloOptions(**options))
    return read_yolo(root, SimpleNamespace(**values, eval_split=eval_split, allow_outside=outside))


def names(part, root):
    return [image.removeprefix(f"{root}/") for image in part.images]


def values(part):
    """Four or eight numbers of each object."""
    lengths = [8 if count == 8 else 4 for count in part.counts.tolist()]
    return [tuple(row[:n]) for row, n in zip(part.values.tolist(), lengths, strict=True)]


LISTS = {"train.txt": "{}a.jpg\n", "valid.txt": "{}b.jpg\r\n"}
# Layout -> its files, images to train on, and to evaluate.
LAYOUTS = {
    "ultralytics": (
        {
            "data.yaml": "path: ../datasets/coco8\ntrain: images/train\nval: images/val\n"
            "test: # optional\nnames:\n  0: no\n  1: 1e3\n",
            "images/train/sub/a.jpg": None,
            "labels/train/sub/a.txt": BOX,
            "images/val/b.jpg": None,
            "labels/val/b.txt": BOX,
        },
        ["images/train/sub/a.jpg"],
        ["images/val/b.jpg"],
    ),
    "ultralytics without data.yaml": (
        {
            "classes.txt": "no\n1e3\n",
            "images/train2017/a.jpg": None,
            "labels/train2017/a.txt": BOX,
            "images/val2017/b.jpg": None,
        },
        ["images/train2017/a.jpg"],
        ["images/val2017/b.jpg"],
    ),
    "roboflow": (
        {
            "data.yaml": "train: ../train/images\nval: ../valid/images\ntest: ../test/images\n\n"
            "nc: 2\nnames: ['no', '1e3']\n\nroboflow:\n  version: 3\n",
            "train/images/a_png.rf.0f.jpg": None,
            "train/labels/a_png.rf.0f.txt": BOX,
            "valid/images/b.jpg": None,
            "valid/labels/b.txt": BOX,
            "test/images/c.jpg": None,
            "README.roboflow.txt": "words",
        },
        ["train/images/a_png.rf.0f.jpg"],
        ["valid/images/b.jpg"],
    ),
    "cvat's ultralytics": (
        {
            "data.yaml": "names:\n  0: no\n  1: 1e3\npath: .\ntrain: train.txt\n",
            "train.txt": "data/images/train/a.jpg\nimages\\train\\b.jpg\n",
            "images/train/a.jpg": None,
            "images/train/b.jpg": None,
            "labels/train/a.txt": BOX,
        },
        ["images/train/a.jpg", "images/train/b.jpg"],
        None,
    ),
    "cvat's yolo 1.1": (
        {
            "obj.data": "classes = 2\nnames = data/obj.names\ntrain = data/train.txt\n",
            "obj.names": "no\n1e3\n",
            **{k: v.format(f"data/obj_{k[:5]}_data/") for k, v in LISTS.items()},
            "obj_train_data/a.jpg": None,
            "obj_train_data/a.txt": BOX,
            "obj_valid_data/b.jpg": None,
        },
        ["obj_train_data/a.jpg"],
        ["obj_valid_data/b.jpg"],
    ),
    "label studio": (
        {
            "classes.txt": "no\n1e3\n",
            "notes.json": "{}",
            "images/5f2d-a.jpg": None,
            "labels/5f2d-a.txt": BOX,
        },
        ["images/5f2d-a.jpg"],
        None,
    ),
    "labelme2yolo": (
        {
            "dataset.yaml": "train: /home/me/YOLODataset/images/train/\n"
            "val: /home/me/YOLODataset/images/val/\nnc: 2\nnames: [\"no\", \"1e3\"]\n",
            "images/train/a.png": None,
            "labels/train/a.txt": BOX,
            "images/val/b.png": None,
        },
        ["images/train/a.png"],
        ["images/val/b.png"],
    ),
    "labelImg": (
        {"classes.txt": "no\n1e3\n", "a.jpg": None, "a.txt": BOX, "b.JPG": None},
        ["a.jpg", "b.JPG"],
        None,
    ),
    "several folders": (
        {
            "data.yaml": "train: [one/images, two.txt]\nvalidation: one/images\nnames: [no, 1e3]\n",
            "two.txt": "./images/b.jpg\n../images/b.jpg\none/images/a.jpg\n",
            "one/images/a.jpg": None,
            "one/labels/a.txt": BOX,
            "images/b.jpg": None,
        },
        ["one/images/a.jpg", "images/b.jpg"],
        ["one/images/a.jpg"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts(tmp_path, layout):
    files, training, evaluation = LAYOUTS[layout]
    data = read(write(tmp_path, files))
    assert data.names == ["no", "1e3"]
    assert data.form == "boxes"
    assert names(data.training, tmp_path) == training
    assert (data.evaluation and names(data.evaluation, tmp_path)) == evaluation
    assert data.training.edges[0].tolist() == [0.25, 0.375, 0.75, 0.625]
    tests = [note for note in data.splits.notes() if "--input.eval_split test" in note]
    assert bool(tests) == (layout == "roboflow")


def test_the_test_part_is_evaluated_when_it_is_asked_for(tmp_path):
    data = read(write(tmp_path, LAYOUTS["roboflow"][0]), eval_split="test")
    assert names(data.evaluation, tmp_path) == ["test/images/c.jpg"]
    with pytest.raises(DataError, match=r"data.yaml has no line test: \.\.\."):
        read(write(tmp_path / "x", LAYOUTS["ultralytics"][0]), eval_split="test")


def one(root, text, **options):
    """Reads a data set of an image with a label file."""
    files = {"classes.txt": "cat\ndog\n", "images/a.png": None, "labels/a.txt": text}
    return read(write(root, files), **options)


@pytest.mark.parametrize(
    ("text", "form", "expected"),
    [
        (f"{BOX}\r\n\r\n\t{OTHER}\t\n{BOX}\n", "boxes", [ONE, (0.25, 0.25, 0.5, 0.5)]),
        ("0.0 0.5 0.5 0.25 0.5 0.93", "boxes", [ONE]),
        (f"{FOUR}\n{FOUR} 0.8", "obb", [CORNERS] * 2),
        ("0 0 0 1 0 1 1", "segments", [(0.5, 0.5, 1, 1)]),
        (f"{FOUR}\n{BOX}", "segments", [CORNERS, ONE]),
        # Corners of a rotated box lie outside of the image where its centre does not.
        ("0 0.8 0.2 1.1 0.5 0.8 0.8 0.5 0.5", "obb", [(0.8, 0.2, 1.1, 0.5, 0.8, 0.8, 0.5, 0.5)]),
        ("", "boxes", []),
        ("\ufeff0 0.5 0.5 0.25 1.009", "boxes", [(0.5, 0.5, 0.25, 1.009)]),
    ],
)  # fmt: skip
def test_lines(tmp_path, text, form, expected):
    data = one(tmp_path, text)
    assert data.form == form
    found = values(data.training)
    assert len(found) == len(expected)
    for numbers, expected_numbers in zip(found, expected, strict=True):
        np.testing.assert_allclose(numbers, expected_numbers, rtol=1e-6)
    assert not data.training.problems


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("0 10 10 50 50", "line 1: its numbers, such as 50, are pixels; YOLO's are shares, 0 to 1"),
        (f"{BOX}\n0 1.2 0.5 0.1 0.1", "line 2: it reaches beyond the image: centre and size (1.2,"),
        ("0 0.5 0.5 -0.2 0.1", "line 1: it reaches beyond the image"),
        ("cat 0.5 0.5 0.1 0.1", "line 1: 'cat 0.5 0.5 0.1 0.1' has a word that is no number"),
        ("0 0.5 nan 0.1 0.1", "line 1: it has a number that is not finite"),
        ("2 0.5 0.5 0.1 0.1", "line 1: its class 2 is none of the 2 of "),
        ("-1 0.5 0.5 0.1 0.1", "line 1: its class -1 is no whole number from 0 on"),
        ("1e300 0.5 0.5 0.1 0.1", "line 1: its class 1e300 is no whole number from 0 on"),
        ("1.5 0.5 0.5 0.1 0.1", "line 1: its class 1.5 is no whole number from 0 on"),
        ("0 0.5 0.5", "line 1: it has 2 numbers after its class; a box has 4, an outline 6 or"),
        (b"\xff\xfe\x00", "cannot be read: it is no text in UTF-16-LE, first at byte 2"),
    ],
)
def test_lines_that_cannot_be_used(tmp_path, text, problem):
    part = one(tmp_path, text).training
    (found,) = part.problems.get(0) or [part.errors[0]]
    assert problem in found and "\n" not in found


def test_the_option_form_decides(tmp_path):
    assert one(tmp_path / "a", FOUR, form="segments").form == "segments"
    part = one(tmp_path / "b", f"{BOX}\n{FOUR}", form="boxes").training
    assert "line 2: it has 8 numbers after its class instead of the 4" in part.problems[0][0]
    part = one(tmp_path / "c", f"{BOX}\n{FOUR}", form="obb").training
    assert "line 1: it has 4 numbers after its class instead of the 8" in part.problems[0][0]


def test_boxes_of_poses(tmp_path):
    yaml = "names: [cat]\nkpt_shape: [2, 3]\ntrain: images\n"
    files = {"data.yaml": yaml, "images/a.png": None, "labels/a.txt": f"{BOX} 0.1 0.1 2 0.9 0.9 0"}
    data = read(write(tmp_path, files))
    assert values(data.training) == [(0.5, 0.5, 0.25, 0.5)]
    assert "the keypoints of the poses are left out; their boxes are used" in data.notes
    part = read(write(tmp_path, {"labels/a.txt": BOX})).training
    assert "line 1: it has 4 numbers instead of 4 and 6 of keypoints" in part.problems[0][0]


YAML = "train: images\nnames: [cat, dog]\n"


@pytest.mark.parametrize(
    ("yaml", "message"),
    [
        ("train: images\n", "has no data.yaml with names, and no classes.txt"),
        ("train: images\nnames: [cat, cat]\n", "names the class 'cat' twice"),
        ("train: images\nnames: {1: cat, 2: dog}\n", "names: there is no class 0; they count from"),
        ("train: images\nnames: {a: cat}\n", "names and nc: 'a' .* is no whole number"),
        ("train: images\nnames: [[cat]]\n", "names and nc: it is no list of texts"),
        (f"{YAML}nc: 3\n", "data.yaml has 2 names, but nc is 3; correct one of them"),
        (f"{YAML}nc: 2\nnc: 3\n", "data.yaml is no YAML: the key 'nc' occurs twice in line 4"),
        ("train: [images\n", "data.yaml is no YAML: .* in line 2"),
        ("[" * 5000, "data.yaml is no YAML: it is nested too deeply"),
        ("path: &a [*a]\n", "data.yaml is no YAML: it has too many values, by aliases"),
        ("just words", "data.yaml is no data set of YOLO: it has no lines such as names"),
        ("train: images\nnc: 99999999999\n", "nc: 99999999999 classes are none, or too many"),
        (f"{YAML}val: pictures\n", "data.yaml, val: there is no pictures in "),
        (f"{YAML}val: /etc/pictures\n", "val: the path '/etc/pictures' leads out of the data"),
        (f"{YAML}val: [{{a: b}}]\n", "val: {'a': 'b'} is no path of a folder or list"),
        (f"{YAML}val: images\nvalid: images\n", "data.yaml has both val and valid; remove one"),
        (f"{YAML}kpt_shape: [a]\n", r"kpt_shape: \['a'\] are no two whole numbers"),
        ("train: other\nnames: [cat]\n", "no image to train on; is it a data set of YOLO"),
    ],
)
def test_data_yaml_that_cannot_be_used(tmp_path, yaml, message):
    files = {"data.yaml": yaml, "images/a.png": None, "labels/a.txt": BOX, "other/b.txt": ""}
    with pytest.raises(DataError, match=message) as caught:
        read(write(tmp_path, files))
    assert "\n" not in str(caught.value)


def test_an_alias_of_a_text_is_read(tmp_path):
    yaml = "train: &a images\nval: *a\nnames: [cat]\n"
    data = read(write(tmp_path, {"data.yaml": yaml, "images/a.png": None, "labels/a.txt": BOX}))
    assert data.evaluation.images == data.training.images


def test_images_outside_of_the_data_folder(tmp_path):
    write(tmp_path / "far", {"images/a.png": None, "labels/a.txt": BOX})
    root = write(tmp_path / "near", {"data.yaml": f"train: {tmp_path}/far/images\nnames: [cat]\n"})
    for text in (None, "train: list.txt\nnames: [cat]\n"):
        if text:
            write(root, {"data.yaml": text, "list.txt": "../far/images/a.png\n"})
        with pytest.raises(DataError, match="leads out of the data folder"):
            read(root)
        part = read(root, outside=True).training
        assert part.images == [f"{tmp_path}/far/images/a.png"]
        assert len(part.numbers) == 1


def test_images_that_are_listed_twice_or_have_names_that_no_file_can_have(tmp_path):
    files = {"classes.txt": "cat\ndog\n", "images/a.png": None, "labels/a.txt": BOX}
    long = "x" * 300
    data = read(
        write(tmp_path, {**files, "train.txt": f"images/a.png\n./images/a.png\n{long}.png"})
    )
    assert names(data.training, tmp_path) == ["images/a.png", f"{long}.png"]
    assert "1 lines repeat an image, which counts once" in data.notes


def test_labels_without_images_and_images_without_labels(tmp_path):
    root = write(tmp_path, {"classes.txt": "cat\n", "images/a.png": None, "labels/b.txt": BOX})
    with pytest.raises(DataError, match=r"label file; that of .*a\.png would be .*labels/a\.txt"):
        read(root)
    data = read(write(root, {"labels/a.txt": BOX, "images/c.png": None, "labels/notes.txt": "x"}))
    assert data.notes == [
        "1 images have no label file: they show no object",
        f"2 files of the labels have no image, such as {root}/labels/b.txt",
    ]


def test_files_with_other_classes_are_told(tmp_path):
    files = {"data.yaml": "names: [cat, dog]\n", "a.png": None, "a.txt": BOX}
    root = write(tmp_path, {**files, "classes.txt": "dog\ncat\n"})
    assert read(root).notes == [
        f"the classes are those of {root}/data.yaml; {root}/classes.txt has others"
    ]
    assert read(write(root, {"classes.txt": "cat\n\ndog"})).notes == []


def test_label_files_may_end_in_upper_case(tmp_path):
    files = {"classes.txt": "cat\n", "images/a.png": None, "labels/a.TXT": BOX}
    data = read(write(tmp_path, {**files, "images/b.png": None, "labels/b.txt": BOX}))
    assert len(data.training.numbers) == 2
    assert data.notes == []


def test_folders_above_the_data_folder_are_no_images(tmp_path):
    root = write(tmp_path / "images", {"classes.txt": "cat\n", "a.png": None, "a.txt": BOX})
    (tmp_path / "labels").mkdir()
    assert len(read(root).training.numbers) == 1
