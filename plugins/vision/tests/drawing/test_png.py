import pytest

from tf_frame.errors import DataError
from tf_frame_deeplab import nuclei, png

_SAMPLE = nuclei._SAMPLE / "image.png"


def test_header_of_the_sample():
    assert png.read_png(_SAMPLE) == png.PngHeader(height=512, width=512, is_grey=True)


def flip_byte(data):
    middle = len(data) // 2
    return data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda data: b"", "does not begin like a PNG"),
        (lambda data: b"GIF89a" + data, "does not begin like a PNG"),
        (lambda data: data[:8], "ends too early"),
        (lambda data: data[:5000], "ends too early"),
        (lambda data: data[:-12], "ends too early"),
        (flip_byte, "checksum of its chunk IDAT is wrong"),
        (lambda data: data[:33] + data[-12:], "pixels end too early"),
        (lambda data: data[:8] + data[-12:], "has no header"),
    ],
)
def test_broken_files(tmp_path, change, reason):
    path = tmp_path / "image.png"
    path.write_bytes(change(_SAMPLE.read_bytes()))
    with pytest.raises(ValueError, match=reason):
        png.read_png(path)


def test_a_broken_file_is_a_data_error(tmp_path):
    (tmp_path / "image.png").write_bytes(flip_byte(_SAMPLE.read_bytes()))
    (tmp_path / "instances.png").write_bytes(_SAMPLE.read_bytes())
    with pytest.raises(DataError, match=r"image\.png is not a readable PNG: the checksum"):
        nuclei.Nuclei(params=nuclei.Params(data_dir=str(tmp_path)))
