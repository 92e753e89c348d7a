"""The images of scipy.misc, by Pillow, which scipy used as well.

Behaviour of scipy 1.2, scipy/misc/pilutil.py: `toimage` scales the values to the whole range.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from PIL import Image, ImageDraw, ImageFont

_FILTERS = {
    "nearest": Image.Resampling.NEAREST,
    "lanczos": Image.Resampling.LANCZOS,
    "bilinear": Image.Resampling.BILINEAR,
    "bicubic": Image.Resampling.BICUBIC,
    "cubic": Image.Resampling.BICUBIC,
}


def restore_methods() -> None:
    """Gives Pillow's fonts and drawings the methods `getsize` and `textsize` that it had once."""
    classes: list[Any] = [ImageFont.FreeTypeFont, ImageFont.ImageFont]
    for font in classes:
        if not hasattr(font, "getsize"):
            font.getsize = _text_size
    drawing: Any = ImageDraw.ImageDraw
    if not hasattr(drawing, "textsize"):
        drawing.textsize = _drawn_size


def _text_size(font: Any, text: str, *arguments: Any, **options: Any) -> tuple[int, int]:
    """Returns width and height, from the origin to the last pixel."""
    _, _, right, bottom = font.getbbox(text, *arguments, **options)
    return int(right), int(bottom)


def _drawn_size(drawing: Any, text: str, font: Any = None, **options: Any) -> tuple[int, int]:
    _, _, right, bottom = drawing.textbbox((0, 0), text, font, **options)
    return int(right), int(bottom)


def imread(name: Any, flatten: bool = False, mode: str | None = None) -> Any:
    """Reads an image file.

    Args:
      name: path or open file.
      flatten: whether to return grey values, float32.
      mode: mode of Pillow that the image is converted to, such as `RGB`.

    Returns:
      `[height, width]` or `[height, width, channels]`.
    """
    with Image.open(name) as image:
        return fromimage(image, flatten, mode)


def imsave(name: Any, arr: Any, format: str | None = None) -> None:
    """Writes an array as an image file, scaled as by `toimage`."""
    image = toimage(arr, channel_axis=2)
    image.save(name) if format is None else image.save(name, format)


def fromimage(im: Any, flatten: bool = False, mode: str | None = None) -> Any:
    """Returns the pixels of an image of Pillow; see `imread`.

    Raises:
      TypeError: it is no image of Pillow.
    """
    if not isinstance(im, Image.Image):
        raise TypeError("Input is not a PIL image.")
    if mode is not None:
        im = im.convert(mode) if mode != im.mode else im
    elif im.mode == "P":
        im = im.convert("RGBA" if "transparency" in im.info else "RGB")
    if flatten:
        im = im.convert("F")
    elif im.mode == "1":
        im = im.convert("L")  # Arrays of single bits are no arrays of bytes.
    return np.array(im)


def bytescale(
    data: Any, cmin: float | None = None, cmax: float | None = None, high: int = 255, low: int = 0
) -> Any:
    """Returns the values scaled from `cmin` ... `cmax` to `low` ... `high`, as uint8.

    Args:
      data: numbers; uint8 is returned unchanged.
      cmin, cmax: range of the values; None: their minimum and maximum.
      high, low: range of the result.

    Raises:
      ValueError: a range is reversed or beyond 0 ... 255.
    """
    data = np.asarray(data)
    if data.dtype == np.uint8:
        return data
    if not 0 <= low <= high <= 255:
        raise ValueError("`low` and `high` should be in order, from 0 to 255.")
    cmin = data.min() if cmin is None else cmin
    cmax = data.max() if cmax is None else cmax
    span = cmax - cmin
    if span < 0:
        raise ValueError("`cmax` should be larger than `cmin`.")
    scaled = (data - cmin) * (float(high - low) / (span or 1)) + low
    return (scaled.clip(low, high) + 0.5).astype(np.uint8)


def toimage(
    arr: Any,
    high: int = 255,
    low: int = 0,
    cmin: float | None = None,
    cmax: float | None = None,
    pal: Any = None,
    mode: str | None = None,
    channel_axis: int | None = None,
) -> Any:
    """Returns an array as an image of Pillow, whose values fill the range of a byte.

    Args:
      arr: `[height, width]`, or three axes with one of 3 or 4 channels.
      high, low, cmin, cmax: see `bytescale`.
      pal: palette `[256, 3]`, uint8, for two axes.
      mode: mode of Pillow: `L`, `P`, `1`, `F`, `I`, `RGB`, `RGBA`, `YCbCr` or `CMYK`.
      channel_axis: axis of the channels; None: the last that has 3 or 4.

    Raises:
      ValueError: the array has another shape.
    """
    data = np.asarray(arr)
    if np.iscomplexobj(data):
        raise ValueError("Cannot convert a complex-valued array.")
    if data.ndim == 2 and mode in ("F", "I"):
        return Image.fromarray(data.astype(np.float32 if mode == "F" else np.int32))
    if data.ndim == 2 and mode == "1":
        return Image.fromarray(bytescale(data, cmin, cmax, high, low) > high // 2)
    if data.ndim == 3:
        data = np.moveaxis(data, _channels(data, channel_axis), 2)
    elif data.ndim != 2:
        raise ValueError("'arr' does not have a suitable array shape for any mode.")
    image = Image.fromarray(np.ascontiguousarray(bytescale(data, cmin, cmax, high, low)))
    if data.ndim == 2 and (mode == "P" or pal is not None):
        image.putpalette(np.asarray(pal if pal is not None else _greys(), np.uint8).tobytes())
    elif data.ndim == 3 and mode is not None and mode != image.mode:
        image = Image.frombytes(mode, image.size, image.tobytes())
    return image


def imresize(arr: Any, size: Any, interp: str = "bilinear", mode: str | None = None) -> Any:
    """Resizes an image.

    Args:
      arr: the array, scaled as by `toimage` unless it is uint8.
      size: percentage (int), factor (float) or `(height, width)`.
      interp: nearest, lanczos, bilinear, bicubic or cubic.
      mode: see `toimage`.
    """
    image = toimage(arr, mode=mode)
    if np.issubdtype(type(size), np.signedinteger):
        new_size = tuple(int(side * size / 100.0) for side in image.size)
    elif np.issubdtype(type(size), np.floating):
        new_size = tuple(int(side * size) for side in image.size)
    else:
        new_size = (int(size[1]), int(size[0]))
    return fromimage(image.resize(new_size, _FILTERS[interp]))


def imrotate(arr: Any, angle: float, interp: str = "bilinear") -> Any:
    """Turns an image by degrees, against the clock; the size stays."""
    return fromimage(toimage(arr).rotate(angle, resample=_FILTERS[interp]))


def imshow(arr: Any) -> None:
    """Opens an image in the viewer of the system."""
    toimage(arr).show()


def _channels(data: Any, axis: int | None) -> int:
    axes = [axis] if axis is not None else [2, 1, 0]
    for candidate in axes:
        if data.shape[candidate] in (3, 4):
            return candidate
    raise ValueError("Could not find channel dimension.")


def _greys() -> Any:
    return np.repeat(np.arange(256)[:, None], 3, axis=1)
