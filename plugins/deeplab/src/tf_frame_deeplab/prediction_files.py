"""Writes predicted classes as PNG files.

DIR/labels/NAME.png    the class of each pixel, and a palette so that it can be looked at
DIR/overlays/NAME.png  the image with the classes laid over it in colour
"""

from __future__ import annotations

import contextlib
import os
import struct
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

from tf_frame_deeplab.palette import has_background, overlay, palette

_MAX_PALETTE = 256
_HEADER_BYTES = 33  # signature 8, then the first chunk: length 4, name 4, data 13, checksum 4
_COLOUR_TYPE = 25  # where in these
_INDEXED = 3


class LabelsAndOverlays:
    """Writes the two files of an example.

    Labels are 8-bit PNGs with a palette whose index is the class. With more than 256
    classes they are grey, 16 bits, and have none.

    Args:
      directory: the folder; its two folders are made.
      num_classes: number of classes.
      class_names: their names, or none; a class 0 called background stays unpainted.
    """

    predict_keys = ("semantic",)

    def __init__(self, directory: str, *, num_classes: int, class_names: Sequence[str]) -> None:
        self._folders = [Path(directory) / name for name in ("labels", "overlays")]
        for folder in self._folders:
            folder.mkdir(parents=True, exist_ok=True)
        self._colours = palette(num_classes, background=has_background(class_names))
        self._encode = _PngEncoder()

    def __call__(self, name: str, features: Mapping[str, Any], prediction: Any) -> None:
        """Writes the files of an example.

        Args:
          name: name of both files, without the ending.
          features: `image`, `[height, width, 3]`, 0 to 255.
          prediction: `semantic`, `[height, width]`.
        """
        classes = prediction["semantic"]
        image = np.clip(np.round(features["image"]), 0, 255).astype(np.uint8)
        labels, overlays = (folder / f"{name}.png" for folder in self._folders)
        _write_whole(labels, self._labels(classes))
        _write_whole(overlays, self._encode(overlay(image, classes, self._colours)))

    def close(self) -> None:
        """Frees what encodes."""
        self._encode.close()

    def _labels(self, classes: Any) -> bytes:
        if len(self._colours) > _MAX_PALETTE:
            return self._encode(classes[..., np.newaxis].astype(np.uint16))
        grey = self._encode(classes[..., np.newaxis].astype(np.uint8))
        return with_palette(grey, self._colours.tobytes())


class _PngEncoder:
    """Makes PNG files of pixels `[height, width, 1 or 3]`, uint8 or uint16."""

    def __init__(self) -> None:
        with tf.Graph().as_default() as graph, tf.device("/device:CPU:0"):
            self._session = tf.Session(graph=graph, config=tf.ConfigProto(device_count={"GPU": 0}))
            self._encoders = {
                np.dtype(dtype.as_numpy_dtype): self._encoder(dtype)
                for dtype in (tf.uint8, tf.uint16)
            }

    def _encoder(self, dtype: Any) -> Any:
        pixels = tf.placeholder(dtype, [None, None, None])
        return self._session.make_callable(tf.io.encode_png(pixels), [pixels])

    def __call__(self, pixels: Any) -> bytes:
        encoded: bytes = self._encoders[pixels.dtype](pixels)
        return encoded

    def close(self) -> None:
        self._session.close()


def with_palette(png: bytes, colours: bytes) -> bytes:
    """Makes a PNG with a palette of an 8-bit grey one.

    Their pixels are stored alike; only the colour type and the palette differ
    (PNG specification, https://www.w3.org/TR/png-3, 11.2).

    Args:
      png: the file; a grey value is the index of a colour.
      colours: red, green and blue of each colour.
    """
    header = bytearray(png[12 : _HEADER_BYTES - 4])
    header[_COLOUR_TYPE - 12] = _INDEXED
    chunks = _chunk(bytes(header[:4]), bytes(header[4:])) + _chunk(b"PLTE", colours)
    return png[:8] + chunks + png[_HEADER_BYTES:]


def _chunk(name: bytes, data: bytes) -> bytes:
    checksum = struct.pack(">I", zlib.crc32(name + data))
    return struct.pack(">I", len(data)) + name + data + checksum


def _write_whole(path: Path, data: bytes) -> None:
    """Writes a file whole or, after an error such as a full disk, not at all."""
    partial = path.with_name(f".{path.name}.part")
    try:
        partial.write_bytes(data)
        os.replace(partial, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            partial.unlink()
        raise
