import io
import os
import tarfile
import zipfile

import pytest

from tf_frame.errors import DataError
from tf_frame.weights.archive import unpack

FILES = {"net/model.ckpt.index": b"index", "net/model.ckpt.data-00000-of-00001": b"x" * 5000}


def tar(path, members, mode="w:gz"):
    with tarfile.open(path, mode) as archive:
        for name, content in members:
            member = tarfile.TarInfo(name) if isinstance(name, str) else name
            member.size = len(content) if member.isreg() else 0
            archive.addfile(member, io.BytesIO(content) if member.isreg() else None)
    return str(path)


def zipped(path, members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return str(path)


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    return folder


def contents(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.mark.parametrize("make", [tar, zipped])
def test_files_are_unpacked(tmp_path, folder, make):
    archive = make(tmp_path / "archive", list(FILES.items()))
    assert sorted(unpack(archive, str(folder))) == sorted(FILES)
    assert contents(folder) == FILES


def test_links_devices_and_rights_are_left_out(tmp_path, folder):
    link, device, program = (tarfile.TarInfo(name) for name in ("link", "device", "program"))
    link.type, link.linkname = tarfile.SYMTYPE, "/etc"
    device.type = tarfile.CHRTYPE
    program.mode = 0o4755
    members = [(link, b""), (device, b""), ("link/passwd", b"mine"), (program, b"#!/bin/sh")]
    archive = tar(tmp_path / "a.tar", members, "w")
    assert unpack(archive, str(folder)) == ["link/passwd", "program"]
    assert contents(folder) == {"link/passwd": b"mine", "program": b"#!/bin/sh"}
    assert not os.access(folder / "program", os.X_OK)


@pytest.mark.parametrize("make", [tar, zipped])
@pytest.mark.parametrize("name", ["../outside", "/tmp/outside", "a/../../outside", "a\\..\\b"])
def test_paths_outside_are_refused(tmp_path, folder, make, name):
    with pytest.raises(DataError, match="which is not unpacked"):
        unpack(make(tmp_path / "archive", [(name, b"x")]), str(folder))
    assert not (tmp_path / "outside").exists()


@pytest.mark.parametrize("make", [tar, zipped])
def test_far_more_content_than_bytes_is_refused(tmp_path, folder, make):
    members = [(f"file-{number}", bytes(2**20)) for number in range(3)]
    with pytest.raises(DataError, match="has more content than an archive of"):
        unpack(make(tmp_path / "archive", members), str(folder))


def test_a_file_twice_is_refused(tmp_path, folder):
    with pytest.raises(DataError, match="has the file .* twice"):
        unpack(tar(tmp_path / "a.tar", [("a", b"1"), ("a", b"2")]), str(folder))


@pytest.mark.parametrize("damage", [lambda b: b[:-900], lambda b: b"no archive", lambda b: b""])
def test_a_damaged_archive_is_named(tmp_path, folder, damage):
    members = [("file", os.urandom(5000))]
    path = tar(tmp_path / "a.tar.gz", members)
    with open(path, "rb") as file:
        content = damage(file.read())
    with open(path, "wb") as file:
        file.write(content)
    with pytest.raises(DataError, match=r"a\.tar\.gz is damaged"):
        unpack(path, str(folder))


def test_a_folder_that_cannot_be_written_is_not_the_archives_fault(tmp_path):
    with pytest.raises(FileNotFoundError):
        unpack(str(tmp_path / "missing.tar"), str(tmp_path))
