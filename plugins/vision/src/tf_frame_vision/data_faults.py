"""Faults of the images of a data set: copies of others, and pictures that are black or blank.

Does not import TensorFlow.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence

from tf_frame import DataWarning
from tf_frame_vision.reading.image_header import ImageError
from tf_frame_vision.reading.pixels import load_pixels

# Training images that are decoded, and the largest of them: a few show whether all are dark.
_DECODED, _DECODED_PIXELS = 6, 4_000_000
# A picture with no greater value looks black.
_DARK = 20
# Below this value, of 255, images of 16 bits have at most 14 that are used, as of cameras.
_HALF_EMPTY = 64
# Share of training images that may be copies of others.
_FEW_COPIES = 0.05


def copy_warnings(
    groups: Sequence[Sequence[str]],
    trained: set[str],
    evaluated: set[str],
    labels: Mapping[str, Hashable],
) -> Iterator[DataWarning]:
    """Yields warnings about the same image in both splits, twice in one, or with two labels.

    Args:
      groups: files with the same content.
      trained, evaluated: files of both splits.
      labels: file to train on -> label; a missing label is like any other.
    """
    groups = [*groups, *([path] for path in sorted(trained & evaluated))]
    shared = [
        group
        for group in groups
        if not trained.isdisjoint(group) and not evaluated.isdisjoint(group)
    ]
    if shared:
        example = [
            next(path for path in shared[0] if path in files) for files in (trained, evaluated)
        ]
        yield DataWarning(
            "shared_images",
            f"the training data and the evaluation data share {_count(len(shared), 'image')}, "
            f"such as {_names(example)}, so that figures are too good",
            "remove them from one of the two",
        )
    within = [[path for path in group if path in trained] for group in groups]
    unlike = [group for group in within if len({*map(labels.get, group)}) > 1]
    alike = [group for group in within if len({*map(labels.get, group)}) == 1]
    if unlike:
        yield DataWarning(
            "contradicting_labels",
            f"{_count(len(unlike), 'training image')} with copies under another label, such as "
            f"{_names(unlike[0])}",
            "remove the wrong ones",
        )
    surplus = sum(len(group) - 1 for group in alike)
    if surplus > _FEW_COPIES * len(trained):
        yield DataWarning(
            "duplicates",
            f"{surplus} of {len(trained)} training images are copies of others, such as "
            f"{_names(max(alike, key=len))}",
            "remove the copies",
        )


def _names(group: Sequence[str]) -> str:
    return " and ".join(dict.fromkeys(group[:2]))


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")


def dark_warnings(
    files: Sequence[str], pictures: Sequence[bytes], image_range: Sequence[float]
) -> Iterator[DataWarning]:
    """Yields a warning if some training images, and so perhaps all, are black or blank.

    Args:
      files: image files, or names of records.
      pictures: encoded images of the records; empty: files are decoded.
      image_range: the option `--input.image_range`.
    """
    images = pictures or spread(files, _DECODED)
    ranges = [values for image in images if (values := _value_range(image, image_range))]
    is_deep = not image_range and any(map(_is_deep, images))
    looked_at = f"{len(ranges)} training images that were looked at"
    brightest = max((most for _, most in ranges), default=255)
    if is_deep and brightest < _HALF_EMPTY:
        most = 2 ** (8 + brightest.bit_length()) - 1
        yield DataWarning(
            "dark_images",
            f"images of 16 bits have no value above {most}, so that {looked_at} become dark, "
            f"{brightest} of 255 at most",
            f"give --input.image_range 0,{most}",
        )
    elif brightest <= _DARK:
        yield DataWarning(
            "dark_images",
            f"the brightest value of {looked_at} is {brightest} of 255, so that they are black",
            "check the images; records of 12 bits in 16 are converted with --image_range 0,4095",
        )
    elif len(ranges) > 1 and all(least == most for least, most in ranges):
        yield DataWarning(
            "blank_images",
            f"{looked_at} have one value in all pixels, such as {files[0]}",
            "check the images",
        )


def spread(names: Sequence[str], count: int) -> Sequence[str]:
    """Returns at most so many names, evenly over all."""
    return names[:: max(-(-len(names) // count), 1)]


def _value_range(image: str | bytes, image_range: Sequence[float]) -> tuple[int, int] | None:
    """Returns the least and the greatest value; None if the image is large, or cannot be read."""
    try:
        pixels = load_pixels(image, max_pixels=_DECODED_PIXELS, image_range=image_range)
    except ImageError:
        return None  # Reading the examples names it.
    return int(pixels.min()), int(pixels.max())


def _is_deep(image: str | bytes) -> bool:
    """Returns whether an image has more than 8 bits: a range of values changes no other image."""
    full, narrow = (_value_range(image, image_range) for image_range in ((), (0, 255)))
    return full != narrow
