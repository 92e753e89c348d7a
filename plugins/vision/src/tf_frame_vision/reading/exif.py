"""Orientation in the EXIF data of an image file, by Pillow; see `orientation`."""

from __future__ import annotations

import struct
from typing import IO, Any

from tf_frame_vision.reading.orientation import UPRIGHT

_ORIENTATION = 0x0112
# Forms of EXIF data as a text of a PNG.
_LATE_TEXTS = (b"Raw profile type exif\0", b"XML:com.adobe.xmp\0")


def read_orientation(image: Any, file: IO[bytes]) -> int:
    """Returns the orientation of an image that Pillow has opened, 1 to 8; 1 without one."""
    if image.format == "TIFF":
        value = image.tag_v2.get(_ORIENTATION)
    else:
        if image.format == "PNG":
            _find_late_exif(image, file)
        elif image.format not in ("JPEG", "MPO", "WEBP"):
            return UPRIGHT
        try:
            value = image.getexif().get(_ORIENTATION)
        except Exception:  # Damaged EXIF data is no reason not to show the image.
            return UPRIGHT
    return value if isinstance(value, int) and 1 <= value <= 8 else UPRIGHT


def _find_late_exif(image: Any, file: IO[bytes]) -> None:
    """Finds EXIF data behind the pixels of a PNG.

    Pillow would decode all pixels for this.
    """
    position = file.tell()
    file.seek(8)
    while len(head := file.read(8)) == 8:
        (length,), kind = struct.unpack(">I", head[:4]), head[4:]
        start = file.tell()
        if kind == b"eXIf":
            image.info.setdefault("exif", b"Exif\0\0" + file.read(length))
        elif kind in (b"tEXt", b"zTXt", b"iTXt") and file.read(24).startswith(_LATE_TEXTS):
            # Pillow decodes the pixels in order to read these rare forms.
            file.seek(position)
            return
        file.seek(start + length + 4)
    image.info.setdefault("exif", None)
    file.seek(position)
