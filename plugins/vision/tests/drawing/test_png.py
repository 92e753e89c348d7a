import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tf_frame_vision.drawing.png import PngHeader, read_png, write_png

RANDOM = np.random.RandomState(0)


@pytest.fixture
def png(tmp_path):
    """A PNG file of 30 x 40 grey pixels, and its content."""
    path = tmp_path / "image.png"
    write_png(path, RANDOM.randint(0, 256, [30, 40]).astype(np.uint8))
    return path, path.read_bytes()


def flip_byte(data):
    middle = len(data) // 2
    return data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]


def with_pixels(data, pixels):
    """The file with other pixels, whose checksum is right."""
    chunk = b"IDAT" + pixels
    length, checksum = (struct.pack(">I", number) for number in (len(pixels), zlib.crc32(chunk)))
    return data[:33] + length + chunk + checksum + data[-12:]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda data: b"", "not a PNG file"),
        (lambda data: b"GIF89a" + data, "not a PNG file"),
        (lambda data: data[:8], "."),
        (lambda data: data[: len(data) // 2], "[Tt]runcated"),
        (lambda data: data[:-12], "[Tt]runcated"),
        (flip_byte, "broken PNG file .*IDAT"),
        (lambda data: data[:33] + data[-12:], "it has no pixels"),
        (lambda data: data[:8] + data[-12:], "."),
        (lambda data: with_pixels(data, zlib.compress(b"too few")), "[Tt]runcated"),
        (lambda data: with_pixels(data, b"no zlib stream"), "broken data stream"),
    ],
)
def test_files_that_are_not_whole_are_refused(png, change, reason):
    path, data = png
    assert read_png(path) == PngHeader(height=30, width=40, is_grey=True)
    path.write_bytes(change(data))
    with pytest.raises((ValueError, OSError), match=reason):
        read_png(path)


@pytest.mark.parametrize("place", range(0, 900, 31))
def test_a_flipped_byte_is_found_wherever_it_is(png, place):
    path, data = png
    path.write_bytes(data[:place] + bytes([data[place] ^ 0x10]) + data[place + 1 :])
    with pytest.raises((ValueError, OSError)):
        read_png(path)


@pytest.mark.parametrize(
    ("mode", "is_grey"),
    [("1", True), ("L", True), ("I;16", True), ("LA", False), ("P", False), ("RGB", False)],
)
def test_grey_files_are_told_from_others(tmp_path, mode, is_grey):
    Image.new(mode, (7, 5)).save(tmp_path / "x.png")
    assert read_png(tmp_path / "x.png") == PngHeader(height=5, width=7, is_grey=is_grey)


def test_a_missing_file_and_a_very_large_image(tmp_path, png, monkeypatch):
    with pytest.raises(FileNotFoundError):
        read_png(tmp_path / "x.png")
    # Pillow refuses images of more than twice so many pixels, unless told not to.
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 30 * 40 / 3)
    with pytest.raises(Image.DecompressionBombError):
        Image.open(png[0])
    assert read_png(png[0]).height == 30


def read_kind(path):
    """Bits and colour type of the header; see the PNG specification, 11.2.1."""
    data = path.read_bytes()
    return data[24], data[25]


@pytest.mark.parametrize(
    ("shape", "dtype", "kind"),
    [([9, 7, 3], np.uint8, (8, 2)), ([9, 7], np.uint8, (8, 0)), ([9, 7], np.uint16, (16, 0))],
)
def test_pixels_are_read_as_they_were_written(tmp_path, shape, dtype, kind):
    pixels = RANDOM.randint(0, np.iinfo(dtype).max + 1, shape).astype(dtype)
    write_png(tmp_path / "x.png", pixels)
    assert read_kind(tmp_path / "x.png") == kind
    np.testing.assert_array_equal(np.asarray(Image.open(tmp_path / "x.png")), pixels)


@pytest.mark.parametrize("count", [2, 5, 256])
def test_a_palette_colours_bytes(tmp_path, count):
    pixels = RANDOM.randint(0, count, [9, 7]).astype(np.uint8)
    colours = RANDOM.randint(0, 256, [count, 3]).astype(np.uint8)
    write_png(tmp_path / "x.png", pixels, colours=colours)
    assert read_kind(tmp_path / "x.png") == (8, 3)
    image = Image.open(tmp_path / "x.png")
    np.testing.assert_array_equal(np.asarray(image), pixels)
    np.testing.assert_array_equal(np.asarray(image.convert("RGB")), colours[pixels])


@pytest.mark.parametrize("earlier", [None, b"earlier"])
def test_no_half_file_stays_when_writing_fails(tmp_path, monkeypatch, earlier):
    path = tmp_path / "x.png"
    if earlier:
        path.write_bytes(earlier)

    def full(image, target, kind):
        Path(target).write_bytes(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Image.Image, "save", full)
    with pytest.raises(OSError, match="No space left on device"):
        write_png(path, np.zeros([4, 4], np.uint8))
    assert [each.read_bytes() for each in tmp_path.iterdir()] == ([earlier] if earlier else [])
