"""Data that a model can train on without an error, and learns nothing from: each gives a warning.

The samples that the plugins bring give none.
"""

import json

import numpy as np
import pytest
from PIL import Image

from tf_frame import Mode
from tf_frame.cli import run
from tf_frame.cli.main import main
from tf_frame.runs.setup.data_text import data_page

CLASSES = ["classification", "image_folder"]
MASKS = ["deeplab", "segmentation_folder", "--input.eval_fraction", "0.5"]
BOXES = ["detection", "coco_json", "--input.eval_fraction", "0.4"]
WORDS = ["recognition", "text_folder", "--input.eval_fraction", "0.4"]
BLACK, BOX = np.zeros([40, 40, 3], np.uint8), (6.0, 4.0, 20.0, 16.0)


def noise(seed, height=40, width=40):
    return np.random.RandomState(seed).randint(0, 255, [height, width, 3], np.uint8)


def save(path, pixels):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(pixels).save(path)


def classes(root, images, *folders):
    """Writes the images of each folder."""
    for part, folder in zip(images, folders, strict=True):
        for n, pixels in enumerate(part):
            save(root / folder / f"{n}.png", pixels)


def many(first, count=6, size=40):
    return [noise(first + n, size, size) for n in range(count)]


def masks(root, value, parts=("",), inner=1, size=40, count=4):
    for k, part in enumerate(parts):
        for n in range(count):
            mask = np.full([size, size], value, np.uint8)
            mask[8:20, 8:30] = inner
            save(root / part / f"images/{n}.png", noise(9 * k + n, size, size))
            save(root / part / f"masks/{n}.png", mask)
    (root / "classes.txt").write_text("background\nthing\nother\n")


def boxes(root, box, parts=("instances_train2017.json",), size=40, empty=()):
    """Writes COCO's JSON; `box` is a function of the number of the image, or one box."""
    (root / "annotations").mkdir()
    for k, name in enumerate(parts):
        images, annotations = [], []
        for n in range(6):
            file = f"{k}_{n}.png"
            save(root / "images" / file, noise(9 * k + n, size, size))
            images.append({"id": n, "file_name": file, "height": size, "width": size})
            left, upper, width, height = box(n) if callable(box) else box
            if name not in empty:
                annotations.append(
                    {"id": n, "image_id": n, "category_id": 1, "iscrowd": 0,
                     "bbox": [left, upper, width, height], "area": width * height}
                )  # fmt: skip
        content = {
            "images": images,
            "annotations": annotations,
            "categories": [{"id": 1, "name": "cone"}],
        }
        (root / "annotations" / name).write_text(json.dumps(content))


def words(root, texts):
    for n in range(len(texts)):
        save(root / f"{n}.png", noise(n, 20, 60))
    lines = [f"{n}.png\t{text}" for n, text in enumerate(texts)]
    (root / "labels.txt").write_text("\n".join(lines))


BOTH = ("instances_train2017.json", "instances_val2017.json")
FOLDERS = ("train/cat", "train/dog", "val/cat", "val/dog")
OF_FOLDERS = [many(0), many(10), many(20, 2), many(30, 2)]
FAULTS = {
    "one_class": (CLASSES, lambda root: classes(root, [many(0)], "cat")),
    "other_size": (
        CLASSES,
        lambda root: classes(root, [*OF_FOLDERS[:2], many(20, 2, 90), many(30, 2, 90)], *FOLDERS),
    ),
    "class_not_evaluated": (
        CLASSES,
        lambda root: classes(root, OF_FOLDERS[:3], *FOLDERS[:3]),
    ),
    "shared_images": (
        CLASSES,
        lambda root: classes(root, [*OF_FOLDERS[:3], many(10, 2)], *FOLDERS),
    ),
    "contradicting_labels": (
        CLASSES,
        lambda root: classes(root, [many(0, 30), [*many(10, 1), *many(40, 29)]], "cat", "dog"),
    ),
    "duplicates": (
        CLASSES,
        lambda root: classes(
            root, [[*many(0, 4), *many(0, 4)], many(50, 8), *OF_FOLDERS[2:]], *FOLDERS
        ),
    ),
    "dark_images": (
        CLASSES,
        lambda root: classes(
            root, [[BLACK + n for n in range(4)], [BLACK + n for n in range(4, 8)]], "cat", "dog"
        ),
    ),
    "blank_images": (
        CLASSES,
        lambda root: classes(
            root, [[BLACK + 9 * n for n in k] for k in ((1, 3, 5), (6, 8, 9))], "cat", "dog"
        ),
    ),
    "class_and_ignored": (MASKS, lambda root: masks(root, 0, inner=255)),
    "all_void": (MASKS, lambda root: masks(root, 255, inner=255)),
    "constant_labels": (MASKS, lambda root: masks(root, 1)),
    "constant_masks": (MASKS, lambda root: masks(root, 0, count=8)),
    "tiny_boxes": (BOXES, lambda root: boxes(root, lambda n: (0.1, 0.1 * n, 0.5, 0.4))),
    "whole_image_boxes": (BOXES, lambda root: boxes(root, (0, 0, 40, 40))),
    "constant_boxes": (BOXES, lambda root: boxes(root, BOX)),
    "nothing_to_evaluate": (
        BOXES,
        lambda root: boxes(root, lambda n: (n, 4, 20, 16), BOTH, empty=BOTH[1:]),
    ),
    "constant_labels of words": (WORDS, lambda root: words(root, ["tree"] * 8)),
    "class_not_trained": (
        ["recognition", "text_folder", "--input.eval_labels", "eval.txt"],
        lambda root: (
            words(root, ["tree", "leaf", "root", "stem"]),
            (root / "eval.txt").write_text("3.png\tzebra\n"),
            (root / "labels.txt").write_text("0.png\ttree\n1.png\tleaf\n2.png\troot\n"),
        ),
    ),
}
GOOD = {
    "classes": (CLASSES, lambda root: classes(root, OF_FOLDERS, *FOLDERS)),
    "masks": (MASKS, lambda root: masks(root, 0)),
    "boxes": (BOXES, lambda root: boxes(root, lambda n: (n, 4, 20, 16))),
    "words": (WORDS, lambda root: words(root, ["tree", "reet", "teer", "rete", "eert"])),
}
SAMPLES = [
    ["classification"],
    ["deeplab"],
    ["detection"],
    ["detection", "--input", "nuclei_boxes"],
    ["recognition"],
    ["recognition", "--input", "rendered_words"],
]


PIXELS = {"background": 2672, "thing": 528, "other": 0}
REPORTS = {
    "classes": ("examples", {"cat": 6, "dog": 6}, {"cat": 2, "dog": 2}),
    "masks": ("pixels", PIXELS, PIXELS),
    "boxes": ("objects", {"cone": 4}, {"cone": 2}),
}


def show(words, *more):
    """Returns the exit code of `--print_data`."""
    return main(["run", "--plugin", *words, "--print_data", *more])


def on_data(case, root):
    """Makes the data of a case and returns the words of a run on it."""
    (plugin, name, *more), make = case
    make(root)
    return [plugin, "--input", name, "--input.data_dir", str(root), *more]


def warnings(text):
    return [line for line in text.splitlines() if line.startswith("warning: ")]


@pytest.fixture
def reports(monkeypatch):
    """The reports that `--print_data` has shown."""
    shown = []
    monkeypatch.setattr(run, "data_page", lambda data: shown.append(data) or data_page(data))
    return shown


@pytest.mark.parametrize("name", FAULTS)
def test_senseless_data_gives_its_warning_which_strict_makes_an_error(
    name, tmp_path, capfd, reports
):
    assert show(on_data(FAULTS[name], tmp_path), "--strict") == 2
    printed = capfd.readouterr()
    (line,) = warnings(printed.out)
    (error,) = [line for line in printed.err.splitlines() if line.startswith("tf-frame: ")]
    assert line.removeprefix("warning: ") in error
    assert "--strict" in error
    (warning,) = reports[0].warnings
    assert warning.kind == name.split()[0]


@pytest.mark.parametrize("name", GOOD)
def test_similar_data_that_can_be_learned_gives_no_warning(name, tmp_path, capfd):
    assert show(on_data(GOOD[name], tmp_path), "--strict") == 0
    assert capfd.readouterr().out.endswith("no warning\n")


@pytest.mark.parametrize("name", REPORTS)
def test_the_report_counts_classes_and_names_what_nothing_uses(name, tmp_path, reports):
    words = on_data(GOOD[name], tmp_path)
    (tmp_path / "notes.txt").write_text("taken in spring")
    (tmp_path / "names.txt").write_text("background\nthing\nother\n")
    words += [] if name != "masks" else ["--input.classes", str(tmp_path / "names.txt")]
    (tmp_path / "later").mkdir()
    save(tmp_path / ".hidden" / "0.png", BLACK)
    show(words)
    (data,) = reports
    counts = [data.splits[mode].counts for mode in (Mode.TRAIN, Mode.EVAL)]
    assert (data.unit, *counts) == REPORTS[name]
    others = () if name == "masks" else ("names.txt",)
    assert data.unused == ("later", *others, "notes.txt")
    assert {split.sizes for split in data.splits.values()} == {((40, 40),) * 3}


@pytest.mark.parametrize("words", SAMPLES, ids=" ".join)
def test_the_samples_of_the_plugins_give_no_warning(words, capfd):
    assert show(words, "--strict") == 0
    assert capfd.readouterr().out.endswith("no warning\n")


def test_a_run_warns_and_goes_on_or_ends_with_strict_before_the_first_step(tmp_path, capfd):
    words = ["run", "--plugin", *on_data(FAULTS["one_class"], tmp_path / "data")]
    words += ["--model.name", "lenet", "--input.image_size", "28", "--train_batch_size", "2"]
    words += ["--max_steps", "1", "--noevaluate", "--model_dir", str(tmp_path / "run")]
    assert main([*words, "--strict"]) == 2
    printed = capfd.readouterr()
    assert "step 1/1" not in printed.out
    assert printed.err.splitlines()[-1].startswith("tf-frame: the data has one class, cat")
    assert not (tmp_path / "run").exists()
    assert main(words) == 0
    printed = capfd.readouterr().out
    assert len(warnings(printed)) == 1
    assert "training data: 40 x 40 pixels, cat 5" in printed
    content = json.loads((tmp_path / "run" / "data.json").read_text())
    assert content["splits"]["train"]["counts"] == {"cat": 5}
    assert [warning["kind"] for warning in content["warnings"]] == ["one_class"]
    (tmp_path / "data" / "cat").rename(tmp_path / "data" / "dog")
    assert main([*words, "--max_steps", "2", "--strict"]) == 2
    assert (
        "class 0 of the data is 'dog', the training had 'cat'; give the" in capfd.readouterr().err
    )
