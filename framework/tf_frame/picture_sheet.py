"""A sheet of pictures with captions, and pictures of any input's examples; no TensorFlow.

Pillow draws; it comes with TensorBoard.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from PIL import Image, ImageDraw

from tf_frame.picture_font import font_for
from tf_frame.text import printable

# Pixels of a picture: smaller ones are enlarged by a whole factor, larger ones shrunk, with some
# room for a legend.
_SIDE, _LARGEST = 240, 320
_COLUMNS, _GAP = 4, 8
_LINE, _SIZE = 20, 14
# Speed counts more than the size of the file.
_COMPRESSION = 1

# `[height, width, 3]` uint8 and a caption.
Picture = tuple[Any, str]


def lay_out(pictures: Sequence[Picture]) -> Any:
    """Returns a sheet of pictures, four in a row, each above its caption.

    Returns:
      `[height, width, 3]` uint8.
    """
    cells = [_cell(_fitted(pixels), caption) for pixels, caption in pictures]
    rows = [cells[at : at + _COLUMNS] for at in range(0, len(cells), _COLUMNS)]
    width = max(cell.width for cell in cells) + _GAP
    heights = [max(cell.height for cell in row) + _GAP for row in rows]
    canvas = Image.new(
        "RGB", (min(len(cells), _COLUMNS) * width + _GAP, sum(heights) + _GAP), "white"
    )
    top = _GAP
    for row, height in zip(rows, heights, strict=True):
        for number, cell in enumerate(row):
            canvas.paste(cell, (_GAP + number * width, top))
        top += height
    return np.asarray(canvas)


def encode_png(pixels: Any) -> bytes:
    """Returns the content of a PNG file."""
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "PNG", compress_level=_COMPRESSION)
    return file.getvalue()


def draw_examples(source: Any, features: Any, labels: Any) -> Sequence[Picture]:
    """Returns pictures of a batch as its input draws them, or else as they are.

    Args:
      source: the input; it may lack the method `draw_examples`.
      features, labels: the batch, as arrays.
    """
    draw = getattr(source, "draw_examples", None)
    pictures: Sequence[Picture] | None = draw(features, labels) if draw else None
    if pictures is None:
        pictures = plain_pictures(features, labels, source.info.class_names)
    return pictures


def plain_pictures(features: Any, labels: Any, class_names: Sequence[str] = ()) -> list[Picture]:
    """Returns the feature `image` of each example with its labels as text.

    Args:
      features: a batch; its `image` is `[batch, height, width, 1, 3 or 4]`, else there is none.
      labels: one array, or name -> array; those with one number for each example are written.
      class_names: names of integer labels.
    """
    images = features.get("image") if isinstance(features, Mapping) else None
    if not isinstance(images, np.ndarray) or images.ndim != 4 or images.shape[-1] not in (1, 3, 4):
        return []
    captions = _captions(labels, len(images), class_names)
    return list(zip(as_pixels(images), captions, strict=True))


def as_pixels(images: Any) -> Any:
    """Returns images of a network as uint8: `[batch, height, width, 3]`.

    Values from 0 to 1 and from -1 to 1 are spread, those from 0 to 255 stay; any other range,
    such as after a subtraction of the mean, is spread from the least to the greatest value.
    """
    images = np.asarray(images)
    if images.dtype != np.uint8:
        values = np.nan_to_num(images.astype(np.float32))
        least, most = _range(float(values.min(initial=0)), float(values.max(initial=0)))
        values = (values - least) * (255 / (most - least))
        images = np.clip(np.rint(values), 0, 255).astype(np.uint8)
    return np.repeat(images, 3, axis=-1) if images.shape[-1] == 1 else images[..., :3]


def _range(least: float, most: float) -> tuple[float, float]:
    """Returns the values of black and white."""
    for black, white in ((0.0, 1.0), (-1.0, 1.0), (0.0, 255.0)):
        # Augmentation may go a little beyond.
        margin = 0.05 * (white - black)
        if black - margin <= least and most <= white + margin:
            return black, white
    return least, most


def _captions(labels: Any, count: int, class_names: Sequence[str]) -> list[str]:
    named = labels if isinstance(labels, Mapping) else {"": labels}
    columns = [
        [_text(name, value, class_names) for value in np.ravel(values).tolist()]
        for name, values in named.items()
        if isinstance(values, np.ndarray) and values.size == count
    ]
    return [", ".join(texts) for texts in zip(*columns, strict=True)] or [""] * count


def _text(name: str, value: Any, class_names: Sequence[str]) -> str:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, int) and 0 <= value < len(class_names):
        return class_names[value]
    text = f"{value:.4g}" if isinstance(value, float) else str(value)
    return f"{name} {text}".strip()


def _fitted(pixels: Any) -> Image.Image:
    picture = Image.fromarray(np.ascontiguousarray(pixels))
    longest = max(picture.size)
    if longest > _LARGEST:
        picture.thumbnail((_SIDE, _SIDE))
        return picture
    factor = max(round(_SIDE / max(longest, 1)), 1)
    size = picture.width * factor, picture.height * factor
    return picture.resize(size, Image.Resampling.NEAREST)


def _cell(picture: Image.Image, caption: str) -> Image.Image:
    if not caption:
        return picture
    text = _shortened(printable(caption))
    cell = Image.new("RGB", (max(picture.width, _width(text)), picture.height + _LINE), "white")
    cell.paste(picture)
    font = font_for(text, _SIZE)
    ImageDraw.Draw(cell).text((0, picture.height + 1), text, fill="black", font=font)
    return cell


def _shortened(text: str) -> str:
    """Cuts a text that is wider than a picture."""
    if _width(text) <= _SIDE:
        return text
    # Of a name of thousands of letters, only these can fit.
    text = text[:_SIDE]
    while text and _width(f"{text}\u2026") > _SIDE:
        text = text[:-1]
    return f"{text}\u2026"


def _width(text: str) -> int:
    return int(font_for(text, _SIZE).getlength(text)) + 1
