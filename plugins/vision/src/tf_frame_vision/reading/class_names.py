"""Names of the classes of a data set: a file with a name in each line, or all that occur.

`is_background` says which name is the background; no other module compares names with it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable
from pathlib import Path
from typing import TypeVar

from tf_frame.errors import DataError
from tf_frame.text import brief, short
from tf_frame.text_file import normal_name, read_names

_Value = TypeVar("_Value", bound=Hashable)
_BACKGROUND = ("background", "bg")


def is_background(name: str) -> bool:
    """Returns whether a class is the background: `background` or `bg`, perhaps within underscores.

    labelme has `_background_`, lists of VOC's classes `__background__`, CVAT `background`.
    """
    return name.strip("_").casefold() in _BACKGROUND


def read_class_names(path: Path) -> list[str]:
    """Reads classes, a line each, from class 0 on; empty lines are left out.

    Blanks and tabs around a name are no part of it.

    Raises:
      DataError: the file cannot be read, names no class, or one twice.
    """
    names = read_names(path)
    if not names:
        raise DataError(f"{short(path)} names no class; write the name of a class in each line")
    twice = find_repeated(map(normal_name, names))
    if twice is not None:
        raise DataError(f"{short(path)} names the class {brief(twice)} twice; remove one line")
    return names


def find_class_names(folder: Path, given: str, found: Iterable[str], fault: str = "") -> list[str]:
    """Returns the classes of a file or of a folder's classes.txt; without these all found, sorted.

    Args:
      folder: the data folder.
      given: the file that the user names; empty: none.
      found: names in the annotations.
      fault: the first annotation that cannot be used, for the message; empty: there is none.

    Raises:
      DataError: the file cannot be read, or no class was found.
    """
    path = Path(given).expanduser() if given else folder / "classes.txt"
    if given or path.exists():
        return read_class_names(path)
    names = sorted({normal_name(name): name for name in sorted(found)}.values())
    if not names:
        example = f"; the first that cannot be used: {fault}" if fault else ""
        raise DataError(f"no annotation in {short(folder)} has a class{example}")
    return names


def find_repeated(values: Iterable[_Value]) -> _Value | None:
    """Returns the first value that occurs more than once; None if there is none."""
    return next((value for value, count in Counter(values).items() if count > 1), None)
