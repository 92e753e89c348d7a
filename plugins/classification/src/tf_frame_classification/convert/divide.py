"""Divides the pictures of a source into a training part and a validation part."""

from __future__ import annotations

import dataclasses
import random
from collections import defaultdict
from collections.abc import Sequence

from tf_frame.errors import ConfigError
from tf_frame_classification.convert.pictures import Picture, Source


def divide(source: Source, fraction: float, *, seed: int) -> tuple[Source, Source]:
    """Returns the training part and the validation part, both in the order of the source.

    Every class of several pictures has at least one picture in both parts.

    Args:
      source: all pictures.
      fraction: part of each class that is for validation.
      seed: seed of the choice, which depends on the names of the pictures, not on their order.

    Raises:
      ConfigError: no class has a picture to spare.
    """
    names: dict[int, list[str]] = defaultdict(list)
    for picture in source.pictures:
        names[picture.label].append(picture.filename)
    held_out: set[str] = set()
    for label, class_names in names.items():
        count = min(max(1, round(len(class_names) * fraction)), len(class_names) - 1)
        held_out.update(random.Random(f"{seed}/{label}").sample(sorted(class_names), count))
    if not held_out:
        raise ConfigError(
            f"--eval_fraction {fraction}: every class has one picture only, which is for "
            "training; add pictures, or leave the option out"
        )
    validation = [picture for picture in source.pictures if picture.filename in held_out]
    training = [picture for picture in source.pictures if picture.filename not in held_out]
    return _part(source, training), _part(source, validation)


def _part(source: Source, pictures: Sequence[Picture]) -> Source:
    """Returns some pictures of a source, with their share of its size."""
    num_bytes = source.num_bytes * len(pictures) // len(source.pictures)
    return dataclasses.replace(source, pictures=pictures, num_bytes=num_bytes)
