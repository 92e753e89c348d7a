"""The parts of a data set by the names of folders and files: one rule for all inputs.

    train   train, training; else default, the only part of CVAT's exports
    eval    val, valid, validation, dev
    test    test, testing; never evaluated, unless `--input.eval_split test` asks for it

Case does not matter, and a year may follow, as in COCO's `train2017`.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tf_frame.errors import ConfigError, DataError
from tf_frame.text import short
from tf_frame_vision.reading.folders import visible

TRAIN, EVAL, TEST = "train", "eval", "test"
_NAMES = {
    TRAIN: ("train", "training"),
    EVAL: ("val", "valid", "validation", "dev"),
    TEST: ("test", "testing"),
}
_KINDS = {name: kind for kind, names in _NAMES.items() for name in names}
# For messages that say which names there are.
LAYOUTS = (
    "train, and val, valid, validation or dev; test is used only if --input.eval_split says so"
)
_WHOLE = "default"
_YEAR = re.compile(r"[-_]?(19|20)\d\d$")


@dataclasses.dataclass(frozen=True)
class Splits:
    """The parts of a folder.

    Attributes:
      train: the part to train on, or None if the folder has no such part.
      eval: the part to evaluate: with `--input.eval_split test` the test part.
      test: the test part.
      unused: names of parts, and perhaps of further folders, that nothing uses.
    """

    train: Path | None = None
    eval: Path | None = None
    test: Path | None = None
    unused: Sequence[str] = ()

    def notes(self, *, uses_test: bool = False) -> list[str]:
        """Returns a line that names the parts that are not used, if there are any.

        Args:
          uses_test: whether the test part is used as well, as by converters.
        """
        test = self.test.name if self.test and uses_test else None
        unused = [name for name in self.unused if name != test]
        if not unused:
            return []
        names = " and ".join(unused)
        verb = "is" if len(unused) == 1 else "are"
        is_test = self.test is not None and self.test != self.eval and not uses_test
        hint = "; --input.eval_split test evaluates the test part" if is_test else ""
        return [f"{names} {verb} not used{hint}"]


def split_kind(name: str) -> str:
    """Returns `train`, `eval` or `test` for the name of a part, else an empty text."""
    return _KINDS.get(_YEAR.sub("", name.casefold()), "")


def is_whole(name: str) -> bool:
    """Returns whether this is the name of undivided data in CVAT's exports."""
    return name.casefold() == _WHOLE


def find_splits(
    folder: Path, *, eval_split: str = "val", before: str = "", ending: str = ""
) -> Splits:
    """Finds the parts of a folder by their names.

    Args:
      folder: the folder of the parts.
      eval_split: the option `--input.eval_split`.
      before: beginning of the names, such as `instances_`.
      ending: ending of files that are the parts, such as `.txt`; empty: folders.

    Raises:
      DataError: two folders or files have the same meaning, or the test part is asked for and is
        not there.
    """
    parts: dict[str, Path] = {}
    twice = []
    for name in visible(folder, folders=not ending):
        if not name.startswith(before) or not name.lower().endswith(ending):
            continue
        word = name[len(before) : len(name) - len(ending)]
        kind = split_kind(word) or (_WHOLE if is_whole(word) else "")
        if kind in parts:
            twice.append(f"{parts[kind].name} and {name}")
        if kind:
            parts[kind] = folder / name
    training = parts.get(TRAIN) or parts.get(_WHOLE)
    test = parts.get(TEST)
    eval_kind = TEST if eval_split == "test" else EVAL
    # Without a part to train on, these may be no parts, but classes.
    if training is not None and twice:
        raise DataError(
            f"{short(folder)} has both {twice[0]}, of the same meaning; remove or rename one of "
            "them"
        )
    if training is not None and test is None:
        check_held_out(folder, eval_split)
    evaluation = parts.get(eval_kind)
    unused = [path.name for path in parts.values() if path not in (training, evaluation)]
    return Splits(training, evaluation, test, unused)


def check_held_out(folder: Path, eval_split: str) -> None:
    """Refuses to hold out images for a test: only a part of this name is one.

    Raises:
      DataError: `--input.eval_split` asks for the test part.
    """
    parts = {split_kind(name): name for name in visible(folder, folders=True)}
    if eval_split == "test" and TEST in parts and TRAIN not in parts:
        part = short(folder / parts[TEST])
        raise DataError(
            f"--input.eval_split test: {short(folder)} has {parts[TEST]}, but no part to train on; "
            f"to evaluate it alone, give --input.data_dir {part} --input.eval_fraction 1 instead"
        )
    if eval_split == "test":
        raise DataError(
            f"--input.eval_split test: {short(folder)} has no part called "
            f"{' or '.join(_NAMES[TEST])}; leave the option out to hold out a part"
        )


def check_one_choice(params: Any, option: str) -> None:
    """Refuses `--input.eval_split test` together with another option for the evaluation data.

    Args:
      params: the options of an input.
      option: the name of the other option.

    Raises:
      ConfigError: both are given.
    """
    if params.eval_split == "test" and getattr(params, option) != getattr(type(params), option):
        raise ConfigError(
            f"--input.eval_split test and --input.{option} both choose the evaluation data; leave"
            " one of them out"
        )
