"""Draws a word by Pillow: a font, curved and in perspective, colours and noise.

A picture follows from the word and a generator of random numbers alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from PIL import Image, ImageDraw

from tf_frame_recognition.inputs.fonts import load_font

# Number of strips of a bent line.
_STRIPS = 8
# Amplitude of the curve at most, and shift of a corner by perspective, as shares of the height.
_CURVE, _CORNER = 0.4, 0.35
# Least difference of the grey values of word and ground, and standard deviation of the noise.
_CONTRAST, _NOISE = 70.0, 12.0


def draw_word(
    word: str,
    random: np.random.Generator,
    *,
    fonts: Sequence[str],
    size: tuple[int, int],
    channels: int,
    bent: bool,
) -> Any:
    """Returns an image, `[height, width, channels]` float32, 0 to 255.

    Args:
      word: one line of text.
      random: draws the font and all else.
      fonts: files; see `tf_frame_recognition.inputs.fonts`.
      size: height and width of the image.
      channels: 1 or 3.
      bent: whether the line is curved and in perspective.
    """
    height, width = size
    font = load_font(fonts[int(random.integers(len(fonts)))], height)
    line = _line(word, font, margin=random.uniform(0.05, 0.25) * height)
    if bent:
        line = _bent(line, random)
    resized = line.resize((width, height), Image.Resampling.BILINEAR)
    ink = np.asarray(resized, np.float32)[..., np.newaxis] / 255
    ground, colour = _colours(random, channels)
    noise = random.normal(0, random.uniform(0, _NOISE), [height, width, channels])
    image = ground + (colour - ground) * ink + noise
    return np.clip(image, 0, 255).astype(np.float32)


def _line(word: str, font: Any, margin: float) -> Image.Image:
    """Draws a word in white on black, with a margin."""
    start, upper, end, lower = font.getbbox(word)
    edge = math.ceil(margin)
    size = (math.ceil(end - start) + 2 * edge, math.ceil(lower - upper) + 2 * edge)
    line = Image.new("L", size)
    ImageDraw.Draw(line).text((edge - start, edge - upper), word, fill=255, font=font)
    return line


def _bent(line: Image.Image, random: np.random.Generator) -> Image.Image:
    """Bends a line along an arc or a wave, and looks at it from the side."""
    width, height = line.size
    amplitude = random.uniform(-_CURVE, _CURVE) * height
    phase, turns = random.uniform(0, 2 * math.pi), random.uniform(0.4, 1.0)
    tall = math.ceil(height + 2 * abs(amplitude))
    shifts = random.uniform(0, _CORNER, [4, 2]) * min(height, width)
    plane = _homography(width, tall, shifts)
    columns = np.linspace(0, width, _STRIPS + 1).round()
    upper, lower = (_source(plane, columns, row) for row in (0, tall))
    for points in (upper, lower):
        wave = amplitude * np.sin(2 * math.pi * turns * points[0] / width + phase)
        points[1] -= (tall - height) / 2 + wave
    # The sources of the four corners of each strip, counter-clockwise from the upper left.
    corners = [upper[:, :-1], lower[:, :-1], lower[:, 1:], upper[:, 1:]]
    quads = np.concatenate(corners).T.tolist()
    places = columns.astype(int).tolist()
    mesh = [((places[k], 0, places[k + 1], tall), quads[k]) for k in range(_STRIPS)]
    return line.transform(
        (width, tall), Image.Transform.MESH, mesh, resample=Image.Resampling.BILINEAR
    )


def _homography(width: float, height: float, shifts: Any) -> Any:
    """Returns the matrix from the picture to the plane; the plane has its corners in the picture.

    Args:
      width, height: size of picture and plane.
      shifts: `[4, 2]`, shift of each corner inwards, x and y.
    """
    corners = np.array([(0, 0), (0, height), (width, height), (width, 0)], np.float64)
    inwards = np.sign(np.array([width, height]) / 2 - corners)
    seen = corners + inwards * shifts / 2
    rows = []
    for (x, y), (u, v) in zip(seen, corners, strict=True):
        rows.append([x, y, 1, 0, 0, 0, -u * x, -u * y])
        rows.append([0, 0, 0, x, y, 1, -v * x, -v * y])
    return np.append(np.linalg.solve(np.array(rows), corners.ravel()), 1).reshape(3, 3)


def _source(plane: Any, columns: Any, row: float) -> Any:
    """Returns the places of a row's points in the plane, `[2, points]`: x and y."""
    points = np.stack([columns, np.full_like(columns, row), np.ones_like(columns)])
    mapped = plane @ points
    return mapped[:2] / mapped[2]


def _colours(random: np.random.Generator, channels: int) -> tuple[Any, Any]:
    """Returns ground and ink, `[channels]`; their grey values differ by the contrast at least."""
    ground = random.uniform(0, 255 - _CONTRAST)
    ink = random.uniform(ground + _CONTRAST, 255)
    greys = (ground, ink) if random.random() < 0.5 else (ink, ground)
    # Colours around the greys; the mean of the channels stays.
    tints = random.normal(0, 25, [2, channels])
    tints -= tints.mean(axis=1, keepdims=True)
    return greys[0] + tints[0], greys[1] + tints[1]
