import os

import pytest

from tf_frame import file_system


def test_a_file_is_written_with_its_folders(tmp_path):
    path = tmp_path / "a" / "b.bin"
    file_system.write_bytes(str(path), b"12345")
    file_system.write_bytes(str(path), b"123")
    assert path.read_bytes() == b"123"
    assert file_system.file_size(str(path)) == 3
    assert os.listdir(path.parent) == ["b.bin"]


def test_a_file_that_cannot_be_written_leaves_the_old_one(tmp_path, monkeypatch):
    path = tmp_path / "b.bin"
    path.write_bytes(b"old")

    def full(*paths):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    with pytest.raises(OSError, match="No space left"):
        file_system.write_bytes(str(path), b"new")
    assert {each.name: each.read_bytes() for each in tmp_path.iterdir()} == {"b.bin": b"old"}


def test_a_file_on_a_remote_file_system_is_written():
    path = "ram://file_system/a/b.bin"
    file_system.write_bytes(path, b"12345")
    assert file_system.read_bytes(path) == b"12345"
    assert file_system.file_size(path) == 5
    with pytest.raises(FileNotFoundError):
        file_system.file_size("ram://file_system/a/c.bin")
