import gzip
import os

import pytest

from tf_frame.errors import DataError
from tf_frame_vision.reading import record_index
from tf_frame_vision.reading.record_index import index_records, masked_crc32c
from tf_frame_vision.record_splits import make_record_split
from tfrecords import write_records


def test_the_index_finds_what_tensorflow_wrote_with_the_checksum_of_the_standard(tmp_path):
    """The offsets follow from the lengths: 12 bytes before the data, 4 behind it."""
    write_records(tmp_path / "x", [b"a" * length for length in (0, 1, 300, 7)])
    index = index_records(tmp_path / "x")
    assert index.offsets.tolist() == [0, 16, 33, 349]
    assert index.damage == ""
    # CRC-32C of "123456789" is e3069283 (RFC 3720's polynomial); the mask is TFRecord's.
    crc = 0xE3069283
    expected = ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF
    assert masked_crc32c(b"123456789") == expected


def test_files_that_are_missing_or_without_a_record_are_refused(tmp_path):
    with pytest.raises(DataError, match=r"/y cannot be read: No such file"):
        index_records(tmp_path / "y")
    for name in "abcd":
        (tmp_path / name).write_bytes(b"")
    paths = [tmp_path / name for name in "abcd"]
    with pytest.raises(DataError, match=r"there is no record in [^,]*/a, [^,]*/b, [^,]*/c$"):
        make_record_split(paths, skip_corrupt=True)


RECORDS = [bytes([number]) * 50 for number in range(20)]


@pytest.fixture
def walks(monkeypatch):
    """Counts how often a file is walked over."""
    seen, walk = [], record_index._walk

    def counted(file, *rest):
        seen.append(file.name)
        return walk(file, *rest)

    monkeypatch.setattr(record_index, "_walk", counted)
    return seen


def test_the_index_is_kept_for_a_file_of_the_same_size_and_time(tmp_path, walks):
    path = tmp_path / "x"
    write_records(path, RECORDS)
    first, second = index_records(path), index_records(path)
    assert first == second and len(walks) == 1
    assert os.listdir(tmp_path / ".tf_frame") == ["x.index"]
    os.utime(path, ns=(0, 1))
    assert index_records(path) == first and len(walks) == 2
    status = path.stat()
    write_records(path, RECORDS[:10])
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert len(index_records(path).offsets) == 10 and len(walks) == 3


@pytest.mark.parametrize(
    "spoil",
    [
        lambda data: b"",
        lambda data: data[:-1],
        lambda data: data[:-1] + bytes([data[-1] ^ 1]),
        lambda data: data.replace(b'"version": "', b'"version": "9'),
        lambda data: b"[]" + data,
        lambda data: b"null\n",
        lambda data: b"\xff\n",
    ],
)
def test_a_damaged_index_is_made_anew(tmp_path, walks, spoil):
    path, index = tmp_path / "x", tmp_path / ".tf_frame" / "x.index"
    write_records(path, RECORDS)
    first, data = index_records(path), index.read_bytes()
    index.write_bytes(spoil(data))
    assert index_records(path) == first and len(walks) == 2
    assert index.read_bytes() == data


def test_a_damaged_file_has_no_index_and_no_partial_file_is_left(tmp_path, walks, monkeypatch):
    path = tmp_path / "x"
    write_records(path, RECORDS)
    good = path.read_bytes()
    path.write_bytes(good[:-3])
    assert "it is cut" in index_records(path).damage
    assert os.listdir(tmp_path / ".tf_frame") == []
    path.write_bytes(good)
    monkeypatch.setattr(type(path), "replace", lambda *paths: os.rename("/no/such", "/no/where"))
    assert len(index_records(path).offsets) == 20
    assert os.listdir(tmp_path / ".tf_frame") == []


def test_a_folder_that_cannot_be_written_has_no_index(tmp_path, walks, monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    write_records(tmp_path / "x", RECORDS)
    assert index_records(tmp_path / "x") == index_records(tmp_path / "x")
    assert len(walks) == 2


def test_a_gzipped_file_is_unpacked_once_whatever_its_name(tmp_path, walks):
    write_records(tmp_path / "plain", RECORDS)
    data = (tmp_path / "plain").read_bytes()
    (tmp_path / "packed").write_bytes(gzip.compress(data))
    first = index_records(tmp_path / "packed")
    assert first.copy.read_bytes() == data
    assert first.offsets == index_records(tmp_path / "plain").offsets
    status = first.copy.stat()
    assert index_records(tmp_path / "packed") == first
    assert first.copy.stat().st_mtime_ns == status.st_mtime_ns
    # A copy that is lost or cut, and a file that changes, are unpacked again.
    first.copy.write_bytes(data[:-1])
    assert index_records(tmp_path / "packed").copy.read_bytes() == data
    first.copy.unlink()
    assert index_records(tmp_path / "packed").copy.read_bytes() == data
    write_records(tmp_path / "plain", RECORDS[3:])
    (tmp_path / "packed").write_bytes(gzip.compress((tmp_path / "plain").read_bytes()))
    assert len(index_records(tmp_path / "packed").offsets) == 17
    assert sorted(os.listdir(tmp_path / ".tf_frame")) == [
        "packed.index",
        "packed.records",
        "plain.index",
    ]


def test_gzipped_and_look_alike_files_give_their_records(tmp_path):
    write_records(tmp_path / "x", [bytes(0x8B1F), b"b"])
    assert (tmp_path / "x").read_bytes().startswith(b"\x1f\x8b")
    index = index_records(tmp_path / "x")
    assert (len(index.offsets), index.copy, index.damage) == (2, None, "")
    # A cut gzipped file gives the records before the cut.
    write_records(tmp_path / "plain", [os.urandom(5000) for _ in range(4)])
    (tmp_path / "packed").write_bytes(gzip.compress((tmp_path / "plain").read_bytes())[:-6000])
    index = index_records(tmp_path / "packed")
    assert 0 < len(index.offsets) < 4
    assert index.damage.startswith(f"{tmp_path}/packed: ")
    with pytest.raises(DataError, match="give --input.skip_corrupt"):
        make_record_split([tmp_path / "packed"], skip_corrupt=False)


def test_without_a_place_beside_it_a_gzipped_file_is_unpacked_to_the_cache_of_the_user(
    tmp_path, monkeypatch
):
    (tmp_path / "data").mkdir()
    write_records(tmp_path / "plain", RECORDS)
    path = tmp_path / "data" / "packed"
    path.write_bytes(gzip.compress((tmp_path / "plain").read_bytes()))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(
        os, "access", lambda folder, mode: str(tmp_path / "data") not in str(folder)
    )
    index = index_records(path)
    assert index.copy.is_relative_to(tmp_path / "home" / "tf_frame")
    assert len(index.offsets) == 20
    monkeypatch.setattr(os, "access", lambda folder, mode: False)
    with pytest.raises(DataError, match="is gzipped, and neither .* run gunzip"):
        index_records(path)


def test_a_full_disk_ends_with_what_to_do(tmp_path, monkeypatch):
    path = tmp_path / "packed"
    path.write_bytes(gzip.compress(b"x" * 100))

    def full(*paths):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(DataError, match=r"cannot be unpacked to .*: No space left on device; free"):
        index_records(path)
    assert os.listdir(tmp_path / ".tf_frame") == []
