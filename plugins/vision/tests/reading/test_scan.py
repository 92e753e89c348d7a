"""Files are examined once: results are kept while their files stay as they are."""

import os
import sys
import time
from threading import get_ident

import pytest

import tf_frame
from tf_frame.errors import DataError
from tf_frame_vision.reading import cache, scan as module
from tf_frame_vision.reading.scan import Problem, scan


class Examiner:
    """Returns the number of bytes of a file, and remembers the files."""

    def __init__(self):
        self.names = []

    def __call__(self, path):
        self.names.append(path.name)
        data = path.read_bytes()
        if not data:
            raise DataError(f"{path} is empty")
        return len(data), "\u00fc"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(cache, "KEPT_AFTER_SECS", 0)
    (tmp_path / "sub").mkdir()
    for name, text in {"a": "1", "b": "", "sub/a": "333"}.items():
        (tmp_path / name).write_text(text)
    return tmp_path


NAMES = ["a", "sub/a", "b", "absent", "a"]
RESULTS = [
    [1, "\u00fc"],
    [3, "\u00fc"],
    Problem("it is empty"),
    Problem("it is missing"),
    [1, "\u00fc"],
]


def examined(folder, names=NAMES, results=RESULTS, **options):
    """Names of the files that a scan examines."""
    examiner = Examiner()
    assert scan(folder, names, examiner, kind="sizes", **options) == results
    return sorted(examiner.names)


def test_results_are_kept_while_size_and_time_are_the_same(folder):
    assert examined(folder) == ["a", "a", "a", "b"]
    assert os.listdir(folder / ".tf_frame") == ["sizes.scan"]
    assert examined(folder) == ["b"]
    (folder / "b").write_text("22")
    assert examined(folder, ["b"], [[2, "\u00fc"]]) == ["b"]
    os.utime(folder / "a", ns=(1, 1))
    assert examined(folder, ["sub/a", "a"], [[3, "\u00fc"], [1, "\u00fc"]]) == ["a"]
    # Results of a file that is gone are not kept.
    (folder / "a").unlink()
    assert examined(folder, ["a", "b"], [Problem("it is missing"), [2, "\u00fc"]]) == []
    os.utime(folder / "b", ns=(1, 1))
    examined(folder, ["b"], [[2, "\u00fc"]])
    assert b'["sub/a","b"]' in (folder / ".tf_frame/sizes.scan").read_bytes()


def test_results_may_depend_on_a_second_file(folder):
    def examined_with(*partners, result=(3, "\u00fc")):
        examiner = Examiner()
        results = scan(folder, ["sub/a"], examiner, kind="pairs", partners=partners)
        assert results == [result if isinstance(result, Problem) else list(result)]
        return len(examiner.names)

    assert [examined_with("a"), examined_with("a"), examined_with("b")] == [1, 0, 1]
    os.utime(folder / "b", ns=(1, 1))
    assert [examined_with("b"), examined_with("b")] == [1, 0]
    assert examined_with("absent", result=Problem("it is missing")) == 0


@pytest.mark.parametrize("change", ["cut", "version", "garbage", "options", "pipe"])
def test_a_cache_that_is_not_valid_is_made_anew(folder, change, monkeypatch):
    examined(folder, options=1)
    path = folder / ".tf_frame/sizes.scan"
    if change == "cut":
        path.write_bytes(path.read_bytes()[:-3])
    elif change == "version":
        monkeypatch.setattr(tf_frame, "__version__", "next")
    elif change == "garbage":
        path.write_bytes(b"\xff\n[")
    elif change == "pipe":
        path.unlink()
        os.mkfifo(path)
    options = {"options": 2 if change == "options" else 1}
    assert len(examined(folder, **options)) == 4
    assert examined(folder, **options) == ["b"]


def test_nothing_is_kept_in_a_folder_that_cannot_be_written(folder, monkeypatch):
    def full(*paths):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as disk:
        disk.setattr(type(folder), "replace", full)
        assert examined(folder) == examined(folder) != []
    (folder / ".tf_frame").rmdir()
    (folder / ".tf_frame").write_text("")
    assert examined(folder) == examined(folder) != []


def test_a_problem_is_not_kept_as_it_may_go_without_a_trace(folder):
    def denied(path):
        raise PermissionError(13, "Permission denied", path)

    problem = Problem("it cannot be read: Permission denied")
    assert scan(folder, ["a"], denied, kind="sizes") == [problem]
    assert examined(folder, ["a"], RESULTS[:1]) == ["a"]


def test_nothing_is_kept_of_a_scan_that_is_quick(folder, monkeypatch):
    monkeypatch.setattr(cache, "KEPT_AFTER_SECS", 1000)
    assert examined(folder) == examined(folder) != []


def test_an_interrupted_scan_keeps_the_results_so_far(folder, monkeypatch):
    monkeypatch.setattr(module, "_TOGETHER", 1)
    names = [f"n{k:03d}" for k in range(200)]
    for name in names:
        (folder / name).write_text("x")

    def examine(path):
        if path.name == "n199":
            raise KeyboardInterrupt
        return 1

    with pytest.raises(KeyboardInterrupt):
        scan(folder, names, examine, kind="sizes")
    assert examined(folder, names[:-1], [1] * 199) == []


def test_a_bar_is_drawn_on_a_terminal_only(folder, monkeypatch, capsys):
    monkeypatch.setattr(module, "_BAR_AFTER_SECS", 0)
    examined(folder)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    examined(folder, options=2)
    assert "checking sizes: 100%" in capsys.readouterr().err


@pytest.mark.parametrize(("clock", "is_slow"), [(lambda: 0.0, True), (time.monotonic, False)])
def test_threads_are_for_slow_disks(tmp_path, monkeypatch, clock, is_slow):
    """A thread that waits for the disk takes no time of a core."""
    names = [str(number) for number in range(1000)]
    for name in names:
        (tmp_path / name).touch()
    monkeypatch.setattr(time, "thread_time", clock)
    threads = set()
    found = scan(tmp_path, names, lambda path: threads.add(get_ident()) or path.name, kind="names")
    assert found == names
    assert (threads == {get_ident()}) != is_slow
