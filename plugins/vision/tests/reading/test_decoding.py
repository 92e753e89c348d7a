"""Images in the graph, in an input pipeline and in an export, against Pillow."""

import io
import struct
import zlib

import numpy as np
import PIL
import pytest
import tensorflow.compat.v1 as tf
from PIL import Image, ImageOps

from sessions import compute
from slow_cases import slow_but
from tf_frame_vision.reading.decoding import image_decoders
from tf_frame_vision.reading.examples import first_readable
from tf_frame_vision.reading.export_decoding import decode_in_export
from tf_frame_vision.reading.image_options import ImageOptions
from tf_frame_vision.reading.orientation import turn_pixels
from tf_frame_vision.reading.pixels import load_pixels

RANDOM = np.random.RandomState(0)
MODES = {
    "JPEG": ["L", "RGB", "CMYK"],
    "PNG": ["1", "L", "LA", "P", "RGB", "RGBA"],
    "GIF": ["1", "L", "P"],
    "BMP": ["1", "L", "P", "RGB", "RGBA"],
    "WEBP": ["L", "RGB", "RGBA"],
    "TIFF": ["1", "L", "LA", "P", "RGB", "RGBA", "CMYK", "YCbCr"],
    "PPM": ["1", "L", "RGB"],
}
# An export has operations only: no TIFF, no PPM, no palette of BMP.
NOT_EXPORTED = {"TIFF", "PPM", "BMP 1", "BMP L", "BMP P", "BMP of 16 bits", "WEBP frames"}
OTHER_COLOURS_IN_EXPORTS = {"GIF with transparency"}


def encoded(image, form, **options):
    file = io.BytesIO()
    image.save(file, form, **options)
    return file.getvalue()


def tags(orientation):
    exif = Image.Exif()
    exif[0x010F] = "Maker"
    exif[0x0112] = orientation
    return exif


def noise(*shape, dtype=np.uint8):
    return RANDOM.randint(0, np.iinfo(dtype).max + 1, shape).astype(dtype)


def xmp(orientation):
    packet = f'<x:xmpmeta tiff:Orientation="{orientation}"/>'.encode()
    return b"http://ns.adobe.com/xap/1.0/\0" + packet


def with_jpeg_segment(jpeg, content):
    return jpeg[:2] + b"\xff\xe1" + (len(content) + 2).to_bytes(2, "big") + content + jpeg[2:]


def big_endian(orientation):
    entry = b"\x01\x12\0\x03\0\0\0\x01" + orientation.to_bytes(2, "big") + bytes(2)
    return b"Exif\0\0MM\0*\0\0\0\x08\0\x01" + entry + bytes(4)


def interlaced(pixels):
    """Returns a PNG in Adam7's order, which Pillow does not write; PNG specification, section 8."""
    rows = b""
    starts = ((0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4), (2, 0, 4, 2), (0, 1, 2, 2))
    for row, column, down, right in (*starts, (1, 0, 2, 1)):
        rows += b"".join(b"\0" + line.tobytes() for line in pixels[row::down, column::right])

    def chunk(kind, content):
        checksum = zlib.crc32(kind + content)
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", checksum)

    header = struct.pack(">IIBBBBB", *pixels.shape[1::-1], 8, 2, 0, 0, 1)
    parts = chunk(b"IHDR", header), chunk(b"IDAT", zlib.compress(rows)), chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def bitmap_of_16_bits(values):
    """Returns a BMP of five bits a colour, rows from the bottom, filled to four bytes."""
    height, width = values.shape
    padded = np.pad(values & 0x7FFF, ((0, 0), (0, width % 2)))[::-1].astype("<u2").tobytes()
    sizes = struct.pack("<IHHI", 54 + len(padded), 0, 0, 54)
    form = struct.pack("<IiiHHIIiiII", 40, width, height, 1, 16, 0, len(padded), 0, 0, 0, 0)
    return b"BM" + sizes + form + padded


def cases():
    picture = Image.fromarray(noise(15, 22, 3))
    files = {
        f"{form} {mode}": encoded(picture.convert("RGB").convert(mode), form)
        for form, modes in MODES.items()
        for mode in modes
    }
    for form in ("JPEG", "PNG", "WEBP", "TIFF"):
        for orientation in range(1, 9):
            name = f"{form} turned by {orientation}"
            files[name] = encoded(picture, form, exif=tags(orientation))
    transparent = Image.fromarray(noise(9, 12, 4))
    files["PNG with alpha"] = encoded(transparent, "PNG")
    files["WEBP with alpha"] = encoded(transparent, "WEBP", lossless=True, exact=True)
    for bits in (1, 2, 4, 8):
        palette = Image.fromarray(noise(9, 12) & (2**bits - 1))
        palette.putpalette(noise(256, 3).tobytes())
        files[f"PNG with {bits} bits"] = encoded(palette, "PNG", bits=bits)
        files[f"PNG with {bits} bits, transparent"] = encoded(
            palette, "PNG", bits=bits, transparency=bytes([0, 99])
        )
    others = {"save_all": True, "append_images": [Image.fromarray(noise(15, 22, 3))]}
    for form in ("GIF", "WEBP", "PNG", "TIFF"):
        files[f"{form} frames"] = encoded(picture, form, **others)
    jpeg = encoded(picture, "JPEG", subsampling=2, quality=50)
    files["JPEG with EXIF in the other order"] = with_jpeg_segment(jpeg, big_endian(6))
    files["JPEG with broken EXIF"] = with_jpeg_segment(jpeg, b"Exif\0\0II*\0\xff\xff")
    files["JPEG with orientation 9"] = with_jpeg_segment(jpeg, big_endian(9))
    files["JPEG with two EXIF"] = with_jpeg_segment(
        with_jpeg_segment(jpeg, big_endian(8)), big_endian(8)
    )
    files["JPEG of CMYK, turned"] = encoded(picture.convert("CMYK"), "JPEG", exif=tags(6))
    files["JPEG of two views (MPO)"] = encoded(picture, "MPO", exif=tags(6), **others)
    files["PNG of grey and alpha, turned"] = encoded(picture.convert("LA"), "PNG", exif=tags(7))
    files["PNG, interlaced"] = interlaced(noise(15, 22, 3))
    files["BMP of 16 bits"] = bitmap_of_16_bits(noise(15, 22, dtype=np.uint16))
    files["GIF with transparency"] = encoded(picture.convert("P"), "GIF", transparency=3)
    files["JPEG, progressive"] = encoded(picture, "JPEG", progressive=True)
    files["JPEG of red, green, blue"] = encoded(picture, "JPEG", keep_rgb=True)
    return files


FILES = cases()
# One orientation, and every third kind of file.
IN_EVERY_SUITE = tuple(
    place
    for place, name in enumerate(FILES)
    if place % 3 == 0 and name.partition(" turned by ")[2] in ("", "6")
)


@pytest.fixture(scope="module")
def decoders():
    """Functions that decode in a data set of one, and as an export does."""
    with tf.Graph().as_default(), tf.Session() as session:
        data = tf.placeholder(tf.string, [])
        files = tf.data.Dataset.from_tensors(data)
        attempts = image_decoders()
        read = first_readable(files, attempts, (np.zeros([1, 1, 3], np.uint8), "no decoder"))
        iterator = tf.data.make_initializable_iterator(read)
        example, exported = iterator.get_next(), decode_in_export(data)

        def in_pipeline(content):
            session.run(iterator.initializer, {data: content})
            image, problem = session.run(example)
            assert problem == b""
            return image

        yield in_pipeline, lambda content: session.run(exported, {data: content})


@pytest.mark.parametrize("name", slow_but(IN_EVERY_SUITE, FILES))
def test_images_are_as_pillow_shows_them(decoders, name):
    if name == "TIFF YCbCr" and int(PIL.__version__.split(".")[0]) < 13:
        pytest.skip("Pillow before 13 does not read what it writes")
    in_pipeline, in_export = decoders
    image = ImageOps.exif_transpose(Image.open(io.BytesIO(FILES[name])))
    expected = np.asarray(image.convert("RGB"))
    np.testing.assert_array_equal(load_pixels(FILES[name]), expected)
    np.testing.assert_array_equal(in_pipeline(FILES[name]), expected)
    if NOT_EXPORTED & {name, name.partition(" ")[0]}:
        with pytest.raises(tf.errors.OpError):
            in_export(FILES[name])
    elif name in OTHER_COLOURS_IN_EXPORTS:
        assert in_export(FILES[name]).shape == expected.shape
    else:
        np.testing.assert_array_equal(in_export(FILES[name]), expected)


@pytest.mark.parametrize("data", [b"\xff\x0a" + bytes(60), FILES["TIFF RGB"], FILES["PPM L"]])
def test_an_export_refuses_formats_whose_size_it_does_not_know(decoders, data):
    # The first begins as a JPEG XL, which TensorFlow decodes at any size.
    with pytest.raises(
        tf.errors.InvalidArgumentError, match="it is no JPEG, PNG, GIF, BMP or WebP"
    ):
        decoders[1](data)


def test_orientation_of_xmp_data_counts_in_a_pipeline(decoders):
    jpeg = encoded(Image.fromarray(noise(15, 22, 3)), "JPEG")
    turned = with_jpeg_segment(jpeg, xmp(6))
    expected = np.asarray(ImageOps.exif_transpose(Image.open(io.BytesIO(turned))))
    assert expected.shape == (22, 15, 3)
    np.testing.assert_array_equal(decoders[0](turned), expected)


def tiff(values, order):
    """Returns a TIFF file of 16 bits without compression; Pillow writes none in colour."""
    height, width, channels = values.shape
    body = values.astype(f"{order}u2").tobytes()
    directory = 8 + len(body)
    colour = 1 if channels == 1 else 2
    bits = 16 if channels == 1 else directory + 2 + 12 * 9 + 4
    entries = [
        *((256, 1, width), (257, 1, height), (258, channels, bits), (259, 1, 1), (262, 1, colour)),
        *((273, 1, 8), (277, 1, channels), (278, 1, height), (279, 1, len(body))),
    ]
    integer = {"<": "little", ">": "big"}[order]

    def number(value, size):
        return value.to_bytes(size, integer)

    def entry(tag, count, value):
        is_short = tag != 258 or count == 1
        kind = 3 if is_short and value < 2**16 else 4
        kind = 3 if tag == 258 else kind
        stored = number(value, 2) + bytes(2) if kind == 3 and count == 1 else number(value, 4)
        return number(tag, 2) + number(kind, 2) + number(count, 4) + stored

    head = (b"II" if order == "<" else b"MM") + number(42, 2) + number(directory, 4)
    table = number(len(entries), 2) + b"".join(entry(*values) for values in entries) + bytes(4)
    return head + body + table + number(16, 2) * channels


@pytest.mark.slow
@pytest.mark.parametrize("form", ["PNG", "TIFF"])
def test_16_bits_are_turned(decoders, form):
    values = noise(9, 12, dtype=np.uint16)
    in_pipeline, in_export = decoders
    for orientation in range(1, 9):
        data = encoded(Image.fromarray(values), form, exif=tags(orientation))
        grey = turn_pixels(values >> 8, orientation).astype(np.uint8)
        expected = np.repeat(grey[..., np.newaxis], 3, axis=-1)
        np.testing.assert_array_equal(load_pixels(data), expected)
        np.testing.assert_array_equal(in_pipeline(data), expected)
        if form == "PNG":
            np.testing.assert_array_equal(in_export(data), expected)


@pytest.mark.slow
@pytest.mark.usefixtures("graph")
def test_16_bits_are_scaled_by_their_depth_or_a_range():
    low, high = 100.0, 4000.0
    options = ImageOptions(image_range=(low, high))
    content = tf.placeholder(tf.string, [])
    in_export = decode_in_export(content, options)
    for channels in (1, 2, 3, 4):
        values = RANDOM.randint(0, 5000, [9, 12, channels]).astype(np.uint16)
        colours = values[..., :3] if channels > 2 else np.repeat(values[..., :1], 3, -1)
        scaled = ((colours.astype(np.float32) - low) * (255 / (high - low))).clip(0, 255)
        files = [compute(tf.io.encode_png, values)]
        if channels != 2:
            files += [tiff(values, "<"), tiff(values, ">")]
        for number, data in enumerate(files):
            np.testing.assert_array_equal(load_pixels(data), colours >> 8)
            expected = np.rint(scaled).astype(np.uint8)
            shown = load_pixels(data, image_range=(low, high))
            np.testing.assert_array_equal(shown, expected)
            if number == 0:
                with tf.Session() as session:
                    exported = session.run(in_export, {content: data})
                np.testing.assert_array_equal(exported, expected)
    depth = encoded(Image.fromarray(np.full([3, 4], 0.5, np.float32)), "TIFF")
    assert (load_pixels(depth, image_range=(0.0, 1.0)) == 128).all()
