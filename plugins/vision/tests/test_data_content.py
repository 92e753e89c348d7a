"""The report of the content of splits."""

from types import SimpleNamespace

import pytest

from tf_frame import Mode
from tf_frame_vision.data_content import SplitContent, find_unused, make_report
from tf_frame_vision.reading.damage import Damage


def test_sizes_and_reasons(tmp_path):
    sizes = [(10, 90), (40, 10), (20, 25), (30, 1), (5, 300)]
    report = make_report(
        {Mode.TRAIN: SplitContent(counts={"cat": 3}, sizes=sizes, root=tmp_path)},
        examples={Mode.TRAIN: 5},
        unit="objects",
        class_names=["cat"],
        damaged={Mode.TRAIN: [Damage("a", "it has 3 eyes"), Damage("b", "it has 4 eyes")]},
    )
    split = report.splits[Mode.TRAIN]
    # By area, 30 to 1500.
    assert split.sizes == ((30, 1), (20, 25), (5, 300))
    assert split.left_out == {"it has N eyes": 2}
    assert not report.warnings


def test_lists_of_parts_are_no_unused_files(tmp_path):
    for name in ("a.png", "train.txt", "dev.txt", "Validation.TXT", "notes.md", "b.png"):
        (tmp_path / name).touch()
    content = SplitContent(files=[str(tmp_path / "a.png")])
    params = SimpleNamespace(data_dir=str(tmp_path))
    assert find_unused(params, [content]) == ["b.png", "notes.md"]


LAYOUTS = {
    "parts": (["train/a/1.png", "train/b/1.png"], ["val/a/1.png"], ["train", "val"]),
    "inner": (["images/train/1.png", "images/train/2.png"], ["images/val/1.png"], None),
    "held out": (["a/1.png", "b/1.png"], ["a/2.png", "b/2.png"], ["", ""]),
    "held out of one class": (["a/1.png", "b/1.png"], ["a/2.png", "a/3.png"], ["", ""]),
    "records": ([], ["val.tfrecord:3"], ["", ""]),
}


@pytest.mark.parametrize(("training", "evaluation", "places"), LAYOUTS.values(), ids=LAYOUTS)
def test_the_place_of_a_split_is_its_own_folder_if_it_has_one(
    tmp_path, training, evaluation, places
):
    modes = (Mode.TRAIN, Mode.EVAL)
    contents = {
        mode: SplitContent(root=tmp_path, files=[str(tmp_path / name) for name in names])
        for mode, names in zip(modes, (training, evaluation), strict=True)
    }
    examples = dict.fromkeys(modes, 1)
    report = make_report(contents, examples=examples, unit="examples", class_names=["a"])
    expected = [str(tmp_path / name) for name in places or ["images/train", "images/val"]]
    assert [report.splits[mode].place for mode in modes] == expected
