import contextlib

import pytest
import tensorflow.compat.v1 as tf

from tf_frame.profiling import capture, chrome_trace
from tf_frame.profiling.whole_file import whole_or_not_there


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


def test_the_file_has_its_name_only_when_it_is_whole(tmp_path):
    with whole_or_not_there(str(tmp_path / "a")) as partial, open(partial, "w") as file:
        file.write("text")
        assert names_in(tmp_path) == ["a.part"]
    assert names_in(tmp_path) == ["a"]
    assert (tmp_path / "a").read_text() == "text"


def test_a_file_of_before_is_replaced(tmp_path):
    (tmp_path / "a").write_text("old")
    with whole_or_not_there(str(tmp_path / "a")) as partial, open(partial, "w") as file:
        file.write("new")
    assert (tmp_path / "a").read_text() == "new"


def test_after_an_error_nothing_is_left_and_the_file_of_before_stays(tmp_path):
    (tmp_path / "a").write_text("old")
    with pytest.raises(OSError, match="No space"), whole_or_not_there(str(tmp_path / "a")) as part:
        with open(part, "w") as file:
            file.write("half")
        raise OSError("No space left on device")
    assert names_in(tmp_path) == ["a"]
    assert (tmp_path / "a").read_text() == "old"


def test_the_error_of_a_file_that_was_never_made_is_told(tmp_path):
    missing = str(tmp_path / "missing" / "a")
    with pytest.raises(FileNotFoundError), whole_or_not_there(missing) as partial:
        open(partial, "w").close()


@contextlib.contextmanager
def full_after_half(path, mode):
    """Stands for a file on a disk without room."""
    with open(path, mode) as file:
        file.write(b"half")
    raise tf.errors.ResourceExhaustedError(None, None, f"{path}; No space left on device")
    yield


def test_a_chrome_trace_that_cannot_be_written_leaves_nothing_behind(tmp_path, monkeypatch):
    monkeypatch.setattr(chrome_trace.tf.io.gfile, "GFile", full_after_half)
    with pytest.raises(tf.errors.ResourceExhaustedError):
        chrome_trace.write_trace(str(tmp_path / "trace.json"), "{}")
    assert names_in(tmp_path) == []


def test_a_capture_that_cannot_be_written_leaves_no_file_behind(tmp_path, monkeypatch):
    def copy(source, target, overwrite):
        with full_after_half(target, "wb"):
            pass

    recorded = capture.Capture()
    recorded.start()
    monkeypatch.setattr(capture.tf.io.gfile, "copy", copy)
    with pytest.raises(capture.CaptureError, match="No space left"):
        recorded.save(str(tmp_path), label="step_1", task="worker_0")
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
