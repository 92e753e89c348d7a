"""Values are collected in a temporary file, and mapped."""

import tempfile

import pytest

from tf_frame.errors import DataError
from tf_frame_vision.reading.spool import Spool


def test_values_are_read_as_they_were_kept():
    spool, values = Spool(), [b"a", b"", bytes(range(256)) * 1000]
    assert spool.content().size == 0
    for value in values:
        spool.keep(value)
    content = spool.content()
    assert [content[begin:end].tobytes() for begin, end in spool.places()] == values


def test_a_folder_without_room_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "absent"))
    with pytest.raises(DataError, match="absent cannot hold the annotations: .*by TMPDIR"):
        Spool().keep(b"a")
