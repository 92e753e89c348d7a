import gzip

import pytest
import tensorflow.compat.v1 as tf

from tf_frame.errors import DataError
from tf_frame_vision.example_input import split_of_records
from tf_frame_vision.reading.record_index import index_records, masked_crc32c


def write(path, records):
    with tf.io.TFRecordWriter(str(path)) as writer:
        for record in records:
            writer.write(record)


def test_the_index_finds_what_tensorflow_wrote(tmp_path):
    """The offsets follow from the lengths: 12 bytes before the data, 4 behind it."""
    write(tmp_path / "x", [b"a" * length for length in (0, 1, 300, 7)])
    index = index_records(tmp_path / "x")
    assert index.offsets.tolist() == [0, 16, 33, 349]
    assert index.damage == ""


def test_the_checksum_is_that_of_the_standard():
    # CRC-32C of "123456789" is e3069283 (RFC 3720's polynomial); the mask is TFRecord's.
    crc = 0xE3069283
    expected = ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF
    assert masked_crc32c(b"123456789") == expected


def test_a_compressed_file_and_a_missing_one_are_named(tmp_path):
    (tmp_path / "x").write_bytes(gzip.compress(b"x"))
    with pytest.raises(DataError, match=r"/x is compressed by gzip.*Unpack it"):
        index_records(tmp_path / "x")
    with pytest.raises(DataError, match=r"/y cannot be read: No such file"):
        index_records(tmp_path / "y")


def test_files_without_a_record_are_refused(tmp_path):
    for name in "abcd":
        (tmp_path / name).write_bytes(b"")
    paths = [tmp_path / name for name in "abcd"]
    with pytest.raises(DataError, match=r"there is no record in [^,]*/a, [^,]*/b, [^,]*/c$"):
        split_of_records(paths, skip_corrupt=True)
