"""Images as they are shown, against Pillow; headers, sizes and turned points."""

import io
import os
import struct
import zlib

import numpy as np
import pytest
from PIL import Image, ImageOps

from tf_frame_vision.reading.image_header import ImageError, read_header
from tf_frame_vision.reading.orientation import turn_pixels, turn_points
from tf_frame_vision.reading.pixels import load_mask, load_pixels

RANDOM = np.random.RandomState(0)
ORIENTATIONS = range(1, 9)


def encoded(image, form, **options):
    file = io.BytesIO()
    image.save(file, form, **options)
    return file.getvalue()


def tags(orientation):
    exif = Image.Exif()
    exif[0x0112] = orientation
    return exif


def noise(*shape, dtype=np.uint8):
    return RANDOM.randint(0, np.iinfo(dtype).max + 1, shape).astype(dtype)


@pytest.mark.parametrize("form", ["JPEG", "PNG", "WEBP", "TIFF"])
def test_images_are_turned_as_pillow_turns_them(form, tmp_path):
    for orientation in ORIENTATIONS:
        data = encoded(Image.fromarray(noise(16, 24, 3)), form, exif=tags(orientation))
        shown = ImageOps.exif_transpose(Image.open(io.BytesIO(data)))
        np.testing.assert_array_equal(load_pixels(data), shown)
        (tmp_path / "image").write_bytes(data)
        header = read_header(tmp_path / "image")
        assert (header.width, header.height) == shown.size
        assert (header.stored_width, header.stored_height) == (24, 16)
        assert (header.orientation, header.format) == (orientation, form)


def test_points_are_turned_with_the_pixels():
    for orientation in ORIENTATIONS:
        for row, column in ((0, 0), (1, 4), (2, 3)):
            stored = np.zeros([3, 5])
            stored[row, column] = 1
            ((shown_row, shown_column),) = np.argwhere(turn_pixels(stored, orientation))
            centre = turn_points([[column + 0.5, row + 0.5]], orientation, (3, 5))
            np.testing.assert_array_equal(centre, [[shown_column + 0.5, shown_row + 0.5]])


def test_masks_keep_their_values():
    for bits in (1, 2, 4, 8):
        values = noise(6, 9) & (2**bits - 1)
        palette = Image.fromarray(values)
        palette.putpalette(noise(256, 3).tobytes())
        np.testing.assert_array_equal(load_mask(encoded(palette, "PNG", bits=bits)), values)
    deep = noise(6, 9, dtype=np.uint16)
    np.testing.assert_array_equal(load_mask(encoded(Image.fromarray(deep), "PNG")), deep)
    colours = noise(6, 9, 3)
    codes = colours.astype(int) @ [1 << 16, 1 << 8, 1]
    data = encoded(Image.fromarray(colours), "PNG", exif=tags(6))
    np.testing.assert_array_equal(load_mask(data), turn_pixels(codes, 6))


def refused(source):
    with pytest.raises(ImageError) as caught:
        read_header(source)
    return str(caught.value)


def test_images_that_cannot_be_used_are_refused_with_a_reason(tmp_path):
    data = encoded(Image.fromarray(noise(16, 24, 3)), "PNG")
    assert refused(tmp_path / "nothing.png") == "it is missing"
    os.mkfifo(tmp_path / "pipe.png")
    assert "it is a pipe or a device and no file" in refused(tmp_path / "pipe.png")
    assert refused(b"") == "it is empty"
    assert refused(b"<html>404</html>").startswith("it is no JPEG, PNG")
    assert refused(data[:20]).startswith("it cannot be decoded: ")
    assert refused(tmp_path).startswith("it cannot be read: ")
    # A WebP file of 34 bytes that claims 16384 x 16384 pixels.
    size = (16383 | 16383 << 14).to_bytes(4, "little")
    webp = b"RIFF" + (26).to_bytes(4, "little") + b"WEBPVP8L\x05\0\0\0\x2f" + size + bytes(9)
    assert refused(webp) == "it is 16384 x 16384 pixels, more than 178956970 (--input.max_pixels)"
    chunk = b"IHDR" + struct.pack(">II", 13000, 12000) + data[24:29]
    dense = data[:12] + chunk + struct.pack(">I", zlib.crc32(chunk)) + data[33:]
    assert refused(dense) == f"it is damaged: {len(data)} bytes cannot be 12000 x 13000 pixels"
    with pytest.raises(ImageError, match="it is 16 x 24 pixels, more than 100"):
        load_pixels(data, max_pixels=100)
    with pytest.raises(ImageError, match="^it cannot be decoded: image file is truncated$"):
        load_pixels(data[:-40])
    cut = encoded(Image.fromarray(noise(16, 24, 3)), "JPEG")[:-40]
    with pytest.raises(ImageError, match="^it cannot be decoded: image file is truncated$"):
        load_pixels(cut)
