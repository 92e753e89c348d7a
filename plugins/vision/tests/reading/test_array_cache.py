"""Arrays that were read from a file are kept next to it."""

import os

import numpy as np
import pytest

import tf_frame
from tf_frame.errors import DataError
from tf_frame_vision.reading import cache
from tf_frame_vision.reading.array_cache import Content, cached

ARRAYS = {
    "a": np.arange(6, dtype=np.float32).reshape(2, 3),
    "b": np.zeros([0, 4], np.int64),
    "c": np.array([True, False]),
}


@pytest.fixture
def read(tmp_path, monkeypatch):
    """Returns the content of a file, and says whether the file itself was read."""
    monkeypatch.setattr(cache, "KEPT_AFTER_SECS", 0)
    path = tmp_path / "x.json"
    path.write_text("{}")

    def start(version=1):
        reads = []

        def read_file(path):
            reads.append(path)
            return Content(ARRAYS, {"names": ["\u00fc", "\udcff"]})

        content = cached(path, read_file, kind="coco", version=version)
        for name, values in ARRAYS.items():
            assert content.arrays[name].dtype == values.dtype
            np.testing.assert_array_equal(content.arrays[name], values)
        assert content.facts == {"names": ["\u00fc", "\udcff"]}
        return bool(reads)

    return start


def test_the_file_is_read_once_until_it_or_a_version_changes(tmp_path, read, monkeypatch):
    assert [read(), read()] == [True, False]
    assert os.listdir(tmp_path / ".tf_frame") == ["x.json.coco"]
    os.utime(tmp_path / "x.json", ns=(1, 1))
    assert [read(), read()] == [True, False]
    assert [read(version=2), read(version=2)] == [True, False]
    monkeypatch.setattr(tf_frame, "__version__", "next")
    assert [read(version=2), read(version=2)] == [True, False]


@pytest.mark.parametrize("damage", ["cut", "flipped", "garbage"])
def test_a_damaged_cache_is_made_anew(tmp_path, read, damage):
    read()
    path = tmp_path / ".tf_frame/x.json.coco"
    data = path.read_bytes()
    flipped = bytes([data[-1] ^ 1])
    path.write_bytes({"cut": data[:-3], "flipped": data[:-1] + flipped, "garbage": b"["}[damage])
    assert [read(), read()] == [True, False]


def test_nothing_is_kept_where_it_cannot_be_or_of_what_is_quick(tmp_path, read, monkeypatch):
    (tmp_path / ".tf_frame").write_text("")
    assert [read(), read()] == [True, True]
    (tmp_path / ".tf_frame").unlink()
    monkeypatch.setattr(cache, "KEPT_AFTER_SECS", 1000)
    assert [read(), read()] == [True, True]

    def absent(path):
        raise DataError("absent")

    with pytest.raises(DataError, match="absent"):
        cached(tmp_path / "absent", absent, kind="coco", version=1)
