"""Composes strings of handwritten digits: a batch of them by a few vectorised ops.

Every string is a line of cells, a digit in each. The ops compute backwards, for each pixel of the
image: its place on the line (turn, bend, slant), the cell, the place in the digit of 8 x 8 pixels;
there they interpolate linearly. `draw` makes the random numbers of a string from its number and the
seed, `strings` makes the images from the random numbers of a batch.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

_SIDE = 8
# A digit with a border of zeros.
_PADDED = _SIDE + 2
_MAX_VALUE = 16.0
_HEADER_BYTES = {1: 8, 3: 16}
# Grey values: range of the ground, range of the share of it that ink takes away, most noise.
_GROUND = (140.0, 255.0)
_CONTRAST = (0.35, 1.0)
_NOISE = 16.0
_NOISE_IMAGES, _NOISE_SEED = 8, (0, 0)
# The ends of digits' cells are rounded to this part of a pixel.
_PARTS = 4
# Random numbers of a string, and of each of its digits.
_OF_STRING = (
    *("length", "pitch", "left", "slant", "ground", "contrast", "noise"),
    *("angle", "phase", "period", "up"),
)
_OF_DIGIT = ("digit", "cell", "width", "height", "centre", "turn", "pen")
# Of a varied digit: sine of the greatest angle, greatest change of its half dark pixels.
_TURN, _PEN = 0.2, 0.25
# Height of a line that would fill an image of another aspect, as a share of the width.
_LINE_ASPECT = 5


@dataclasses.dataclass(frozen=True)
class Form:
    """The strings to compose.

    Attributes:
      size: height and width of the images, in pixels.
      lengths: the fewest and the most digits.
      digits: range of indices of digits, without the second one.
      bend: amplitude of a sine along the line, as a share of its height.
      rotation: the greatest turn of the line to either side, in degrees.
      varied: whether each digit is turned, and its strokes made wider or narrower.
    """

    size: tuple[int, int]
    lengths: tuple[int, int]
    digits: tuple[int, int]
    bend: float
    rotation: float
    varied: bool


class Digits:
    """Digits of 8 x 8 pixels in memory, read once.

    The ops stand outside of the data set, and neither the graph nor a checkpoint has pixels.

    Args:
      images, labels: gzipped idx files.
      ids: number of each digit, 0 to 9, in the label map.
    """

    def __init__(self, images: str, labels: str, ids: Sequence[int]) -> None:
        pixels = tf.reshape(_bytes(images, rank=3), [-1, _SIDE, _SIDE])
        pixels = tf.pad(tf.cast(pixels, tf.float32) / _MAX_VALUE, [[0, 0], [1, 2], [1, 2]])
        # A row has the four pixels of an interpolation: one gather finds them.
        corners = [pixels[:, y : y + _PADDED, x : x + _PADDED] for y in (0, 1) for x in (0, 1)]
        self.corners = tf.reshape(tf.stack(corners, axis=-1), [-1, 4])
        self.ids = tf.gather(ids, tf.cast(_bytes(labels, rank=1), tf.int32))


def _bytes(path: str, *, rank: int) -> Any:
    data = tf.io.decode_compressed(tf.io.read_file(path), "GZIP")
    return tf.io.decode_raw(data, tf.uint8)[_HEADER_BYTES[rank] :]


def make_noise(form: Form) -> Any:
    """Returns normal random numbers; each string takes a part of them, which is quicker."""
    return tf.random.stateless_normal([_NOISE_IMAGES * math.prod(form.size)], _NOISE_SEED)


def draw(number: Any, noise: Any, seed: int, form: Form) -> dict[str, Any]:
    """Draws the random numbers of a string, 0 to 1, and its noise.

    Args:
      number: scalar int64, the string's number.
      noise: of `make_noise`.
      seed: seed of all strings.
      form: the strings.
    """
    seeds = tf.stack([tf.constant(seed, tf.int64), number])
    count = len(_OF_STRING) + len(_OF_DIGIT) * form.lengths[1]
    pixels = math.prod(form.size)
    first = tf.random.stateless_uniform(
        [], seeds + tf.constant([1, 0], tf.int64), 0, (_NOISE_IMAGES - 1) * pixels, tf.int32
    )
    return {
        "number": number,
        "uniform": tf.random.stateless_uniform([count], seeds),
        "noise": tf.reshape(noise[first : first + pixels], form.size),
    }


def strings(digits: Digits, drawn: Mapping[str, Any], form: Form) -> tuple[Any, Any]:
    """Composes a batch of strings.

    Args:
      digits: the digits.
      drawn: results of `draw` for a batch.
      form: the strings.

    Returns:
      `[batch, height, width, 1]` float32, 0 to 255; and `[batch, most]` int32, the numbers of the
      digits, padded by -1.
    """
    of_string, of_digit = _named(drawn["uniform"], form.lengths[1])
    least, most = form.lengths
    lengths = least + tf.cast(of_string["length"] * (most - least + 1), tf.int32)
    lengths = tf.minimum(lengths, most)
    first, end = form.digits
    chosen = first + tf.cast(of_digit["digit"] * (end - first), tf.int32)
    chosen = tf.minimum(chosen, end - 1)
    is_there = tf.range(most)[tf.newaxis] < lengths[:, tf.newaxis]
    text = tf.where(is_there, tf.gather(digits.ids, chosen), -tf.ones_like(chosen))
    ink = _ink(digits, chosen, is_there, of_string, of_digit, form)
    return _exposed(ink, drawn["noise"], of_string)[..., tf.newaxis], text


def _named(uniform: Any, most: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Returns the random numbers by name: `[batch]` of a string, `[batch, most]` of its digits."""
    strings, digits = uniform[:, : len(_OF_STRING)], uniform[:, len(_OF_STRING) :]
    digits = tf.reshape(digits, [-1, len(_OF_DIGIT), most])
    of_string = dict(zip(_OF_STRING, tf.unstack(strings, axis=1), strict=True))
    return of_string, dict(zip(_OF_DIGIT, tf.unstack(digits, axis=1), strict=True))


def _ink(
    digits: Digits, chosen: Any, is_there: Any, of_string: Any, of_digit: Any, form: Form
) -> Any:
    """Returns the ink of the images, `[batch, height, width]`, 0 to 1."""
    height, width = form.size
    line = min(height, width / _LINE_ASPECT)
    slant = 0.35 * (2 * of_string["slant"] - 1)
    lengths = tf.reduce_sum(tf.cast(is_there, tf.float32), axis=1)
    pitch = line * (0.55 + 0.3 * of_string["pitch"])
    # All digits fit into the width, whatever the slant.
    total = lengths * tf.minimum(pitch, (width - tf.abs(slant) * line) / lengths)
    cells = tf.where(is_there, 0.85 + 0.3 * of_digit["cell"], tf.zeros_like(of_digit["cell"]))
    cells *= (total / tf.reduce_sum(cells, axis=1))[:, tf.newaxis]
    along, across = _on_line(of_string, total + tf.abs(slant) * line, line, form)
    along += _to_pixels(slant) * across + _to_pixels(total / 2)
    ends = tf.cumsum(cells, axis=1)
    # The place in a digit is linear in the place on the line.
    high = line * (0.75 + 0.25 * of_digit["height"])
    across_scale = _SIDE / high
    across_shift = _centre() - across_scale * (line - high) * (of_digit["centre"] - 0.5)
    # The outer columns of most digits are empty, so they may be wider than their cells.
    along_scale = _SIDE / tf.maximum(cells * (1 + 0.2 * of_digit["width"]), 1e-3)
    along_shift = _centre() - along_scale * (ends - cells / 2)
    start = tf.cast(chosen * _PADDED**2, tf.float32)
    turn = form.varied * _TURN * (2 * of_digit["turn"] - 1)
    pen = form.varied * 4 * _PEN * (2 * of_digit["pen"] - 1)
    rows = [along_scale, along_shift, across_scale, across_shift, turn, pen, start]
    rows = _look_up_cells(tf.stack(rows, axis=-1), along, ends, lengths, width)
    scale_x, shift_x, scale_y, shift_y, turn, pen, start = tf.unstack(rows, axis=-1)
    x, y = scale_x * along + shift_x, scale_y * across + shift_y
    # Small angles: their cosine is taken for 1.
    from_x, from_y = x - _centre(), y - _centre()
    ink = _sampled(digits, start, x + turn * from_y, y - turn * from_x)
    return ink + pen * ink * (1 - ink)


def _look_up_cells(rows: Any, along: Any, ends: Any, lengths: Any, width: int) -> Any:
    """Returns for each pixel the values of its cell.

    The ends of cells are rounded to quarters of a pixel: a table by places is quicker than a
    comparison of every pixel with every end.

    Args:
      rows: `[batch, most, values]`.
      along: `[batch, height, width]`, places on the lines.
      ends: `[batch, most]`, ends of the cells there.
      lengths: `[batch]`, numbers of cells.
      width: the longest line.
    """
    places = tf.range(_PARTS * width, dtype=tf.float32) / _PARTS
    cells = tf.cast(places[tf.newaxis, :, tf.newaxis] >= ends[:, tf.newaxis], tf.int32)
    last = tf.cast(lengths, tf.int32)[:, tf.newaxis] - 1
    table = tf.gather(rows, tf.minimum(tf.reduce_sum(cells, axis=2), last), batch_dims=1)
    place = tf.cast(tf.clip_by_value(along * _PARTS, 0, _PARTS * width - 1), tf.int32)
    return tf.gather(table, place, batch_dims=1)


def _centre() -> float:
    return (_PADDED - 1) / 2


def _to_pixels(values: Any) -> Any:
    """Returns values of strings, `[batch]`, with dimensions for their pixels."""
    return values[:, tf.newaxis, tf.newaxis]


def _on_line(of_string: Any, length: Any, line: float, form: Form) -> tuple[Any, Any]:
    """Returns the places of the pixels along and across the lines, from the centres, in pixels.

    Both are `[batch, height, width]`, or with sides of 1 where all places are the same. A bent and
    turned line that is too large for the image is shrunk, each side on its own.

    Args:
      of_string: random numbers.
      length: `[batch]`, lengths of the lines.
      line: height of the lines.
      form: the strings.
    """
    height, width = form.size
    high = line * (1 + 2 * form.bend)
    angle = math.radians(form.rotation) * (2 * of_string["angle"] - 1)
    cos, sin = tf.cos(angle), tf.sin(angle)
    needed_x = length * cos + high * tf.abs(sin)
    needed_y = length * tf.abs(sin) + high * cos
    x = _placed(width, needed_x, of_string["left"])[:, tf.newaxis, :]
    y = _placed(height, needed_y, of_string["up"])[:, :, tf.newaxis]
    along, across = x, y
    if form.rotation:
        cos, sin = _to_pixels(cos), _to_pixels(sin)
        along, across = cos * x + sin * y, cos * y - sin * x
    if form.bend:
        turn = 2 * math.pi / (length * (1 + of_string["period"]))
        phase = 2 * math.pi * of_string["phase"]
        across -= form.bend * line * tf.sin(_to_pixels(turn) * along + _to_pixels(phase))
    return along, across


def _placed(pixels: int, needed: Any, place: Any) -> Any:
    """Returns the places of the pixels of a side from the centre of the line, `[batch, pixels]`."""
    shrunk = tf.maximum(needed / pixels, 1)
    centre = pixels / 2 + (place - 0.5) * (pixels - needed / shrunk)
    centres = tf.range(pixels, dtype=tf.float32) + 0.5
    return (centres - centre[:, tf.newaxis]) * shrunk[:, tf.newaxis]


def _sampled(digits: Digits, start: Any, x: Any, y: Any) -> Any:
    """Returns the ink of digits between their pixels, linearly interpolated.

    Args:
      digits: the digits.
      start: row of the digits' first pixel.
      x, y: places in the padded digits; there is no ink outside.
    """
    x, y = (tf.clip_by_value(place, 0, _PADDED - 1) for place in (x, y))
    column, line = tf.floor(x), tf.floor(y)
    right_share, down_share = x - column, y - line
    row = tf.cast(start + line * _PADDED + column, tf.int32)
    corners = tf.unstack(tf.gather(digits.corners, row), axis=-1)
    upper = corners[0] + right_share * (corners[1] - corners[0])
    lower = corners[2] + right_share * (corners[3] - corners[2])
    return upper + down_share * (lower - upper)


def _exposed(ink: Any, noise: Any, of_string: Any) -> Any:
    """Returns grey values, 0 to 255, of ink on a ground."""
    darkest, lightest = _GROUND
    ground = darkest + (lightest - darkest) * of_string["ground"]
    least, most = _CONTRAST
    contrast = least + (most - least) * of_string["contrast"]
    image = _to_pixels(ground) - _to_pixels(ground * contrast) * ink
    image += _to_pixels(_NOISE * of_string["noise"]) * noise
    return tf.clip_by_value(image, 0, 255)
