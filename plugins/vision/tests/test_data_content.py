"""The report of the content of splits."""

from types import SimpleNamespace

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
