"""Files of the source of a conversion."""

from tf_frame_vision.convert.folders import examine_files


def test_the_size_counts_each_file_once_and_the_digest_notices_changes(tmp_path):
    image, table = tmp_path / "a.png", tmp_path / "all.json"
    image.write_bytes(b"1234")
    table.write_bytes(b"123456")
    before = examine_files(tmp_path, [image, table, table])
    assert before.num_bytes == 10
    assert examine_files(tmp_path, [image, table, table]) == before
    table.write_bytes(b"12345")
    assert examine_files(tmp_path, [image, table, table]).digest != before.digest
