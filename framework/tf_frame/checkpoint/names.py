"""Names of checkpoint files; the only module that spells them.

A checkpoint is a few files with a common path prefix, such as `runs/first/model.ckpt-120`:

    model.ckpt-120.index                  names, shapes and checksums of the tensors
    model.ckpt-120.data-00000-of-00001    the tensors; one file per shard
    model.ckpt-120.meta                   the meta graph, if one was saved
    model.ckpt-120.saving/                the folder where the files are staged
    checkpoint                            the list of the checkpoints in the folder

TensorFlow defines the suffixes and the list. This module defines `model.ckpt-120`.
"""

from __future__ import annotations

import os
import re

from tf_frame.errors import ConfigError
from tf_frame.text import short

PREFIX = "model.ckpt"
INDEX = ".index"
META = ".meta"
STAGING = ".saving"
LIST_FILE = "checkpoint"

# Of a pattern; TensorFlow finds checkpoints by patterns, which cannot quote them. It misses every
# path with a bracket.
_PATTERN, BRACKET = "*?[", "["
_SUFFIX = re.compile(r"(?<=.)\.(index|meta|data-\d{5}-of-\d{5})\Z")
# A slot of a part of a variable (`weights/part_1/Adagrad`; TensorFlow cuts the first characters of
# the suffix in a variable scope): the index lists the shape of the whole, the file has the part.
SLOT_OF_PART = re.compile(r"(part|/art|/rt|/t|/)_\d+/[^/]+$")


def checkpoint_name(step: int) -> str:
    """Returns the name of the checkpoint of a global step: `model.ckpt-120`."""
    return f"{PREFIX}-{step}"


def checkpoint_path(folder: str | os.PathLike[str], step: int) -> str:
    """Returns the path prefix of the checkpoint of a global step in a folder."""
    return os.path.join(folder, checkpoint_name(step))


def step_in_path(path: str) -> int | None:
    """Returns the global step in a path prefix; None if the name is not `model.ckpt-<step>`."""
    prefix, _, step = os.path.basename(path).rpartition("-")
    return int(step) if prefix == PREFIX and step.isdecimal() else None


def checkpoint_prefix(path: str) -> str:
    """Takes `.index`, `.meta` or `.data-00000-of-00001` off the end of a path."""
    return _SUFFIX.sub("", path)


def check_no_pattern(path: str, option: str, characters: str = _PATTERN) -> None:
    """Refuses a path that TensorFlow writes checkpoints to, but cannot read them from.

    Args:
      path: a folder, or the path prefix of a checkpoint.
      option: the option that names it.
      characters: those that are refused; `BRACKET` where checkpoints are only read.

    Raises:
      ConfigError: the path has such a character.
    """
    if any(character in path for character in characters):
        raise ConfigError(
            f"{option} {short(path)}: TensorFlow's savers read *, ? and [ in a path as a pattern; "
            "choose a folder without them"
        )
