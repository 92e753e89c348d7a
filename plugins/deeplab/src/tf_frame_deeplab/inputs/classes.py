"""The file of the classes: their names, and their colours in coloured masks.

classes.txt:

    background
    nucleus    200 30 30
    ignore     255 255 255

Line n, counted from 0, is class n. Colours, red, green and blue, are needed only where masks have
neither grey values nor a palette. The class `ignore` takes no number: pixels of its colour do not
count. Empty lines, lines that begin with #, and blanks around a line are left out.

Files that other programs export with their masks:

    labelmap.txt      CVAT, `NAME:RED,GREEN,BLUE:PARTS:ACTIONS`; the background becomes class 0
    _classes.csv      Roboflow, `Pixel Value, Class` and a line for each value
    class_names.txt   labelme2voc, as classes.txt

Sources: docs.cvat.ai, format-smask; roboflow.com/formats/semantic-segmentation-masks;
wkentaro/labelme, `examples/semantic_segmentation`.
"""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from tf_frame.errors import DataError
from tf_frame.text import brief, short
from tf_frame.text_file import (
    BLANKS,
    normal_name,
    parse_integer,
    read_csv,
    read_names,
    split_lines,
)
from tf_frame_vision.reading.class_names import is_background
from tf_frame_vision.reading.folders import first_existing

_LABEL_MAP, _TABLE = "labelmap.txt", "_classes.csv"
_FILES = ("classes.txt", _LABEL_MAP, "class_names.txt", _TABLE, f"train/{_TABLE}")
_IGNORED = "ignore"
# Name and colour, `0xRRGGBB`, of a class.
_Entry = tuple[str, int | None]
# Of a line that is read from its end: a search from the front takes minutes with many blanks.
_COLOUR = re.compile(r"([0-9]{1,9})[ \t,]+([0-9]{1,9})[ \t,]+([0-9]{1,9})[ \t]+")
_FORM = "a line for each class: its name, and for masks in colour red, green and blue, 0 to 255"


@dataclasses.dataclass(frozen=True)
class Classes:
    """The classes of a data set.

    Attributes:
      names: the name of each class.
      colours: `0xRRGGBB` -> class, `ignore_label` for pixels that do not count; empty without
        colours.
    """

    names: Sequence[str]
    colours: dict[int, int]

    @property
    def red_green_blue(self) -> Sequence[tuple[int, int, int]]:
        """The colour of each class; empty without colours."""
        classes = sorted((number, colour) for colour, number in self.colours.items())
        in_order = [colour for _, colour in classes[: len(self.names)]]
        return [(colour >> 16, colour >> 8 & 255, colour & 255) for colour in in_order]

    @property
    def lines(self) -> Sequence[str]:
        """The lines of the file, without the line of `ignore`."""
        return class_lines(self.names, self.red_green_blue)


def class_lines(names: Sequence[str], colours: Sequence[tuple[int, int, int]] = ()) -> list[str]:
    """Returns the lines of a file of classes, in the order of the classes.

    Args:
      names: the name of each class.
      colours: red, green and blue of each; empty: there are none.

    Raises:
      DataError: `read_classes` would read a name differently.
    """
    lines = list(names)
    if colours:
        pairs = zip(names, colours, strict=True)
        lines = [f"{name} {red} {green} {blue}" for name, (red, green, blue) in pairs]
    for name, line in zip(names, lines, strict=True):
        is_kept = split_lines(line) == [line.strip(BLANKS)] and not line.startswith("#")
        if not is_kept or name == _IGNORED or _divide(line)[0] != name:
            raise DataError(
                f"classes.txt cannot hold the class {brief(name)}: a name has no line end, no "
                "blank before or after it, no # at its beginning and no three numbers at its end, "
                f"and is not {_IGNORED}; rename it"
            )
    return lines


def find_classes(folder: Path, given: str, *, ignore_label: int) -> Classes:
    """Reads the file of the classes of a data folder.

    Args:
      folder: the data folder.
      given: the option `--input.classes`; empty: the folder has the file.
      ignore_label: see `read_classes`.

    Raises:
      DataError: see `read_classes`.
    """
    path = first_existing(folder, _FILES) or folder / _FILES[0]
    return read_classes(Path(given).expanduser() if given else path, ignore_label=ignore_label)


def read_classes(path: Path, *, ignore_label: int) -> Classes:
    """Reads a file of classes; its name says its form.

    Args:
      path: the file.
      ignore_label: label of pixels that do not count.

    Raises:
      DataError: the file is missing, names fewer than two classes, or a line is wrong.
    """
    if not path.exists():
        raise DataError(f"{short(path)} is missing; write it, {_FORM}")
    entries = _FORMS.get(path.name, _own_entries)(path)
    names = [name for name, _ in entries if name != _IGNORED]
    if len(names) < 2:
        raise DataError(f"{short(path)} has {len(names)} class(es); it needs {_FORM}")
    _check_once(path, names)
    if ignore_label < len(names):
        raise DataError(
            f"--input.ignore_label {ignore_label} is one of the {len(names)} classes of "
            f"{short(path)}; give a number from {len(names)} on"
        )
    return Classes(names, _colours(path, entries, ignore_label))


def _own_entries(path: Path) -> list[_Entry]:
    return [_entry(path, line) for line in read_names(path) if not line.startswith("#")]


def _label_map_entries(path: Path) -> list[_Entry]:
    """Returns the classes of CVAT's file, which are in the order of their names."""
    entries = []
    for line in read_names(path):
        if not line.startswith("#"):
            name, colour, *_ = [*line.rsplit(":", 3), "", ""]
            entries.append(_entry(path, f"{name} {colour}".strip()))
    return sorted(entries, key=lambda entry: not is_background(entry[0]))


def _table_entries(path: Path) -> list[_Entry]:
    """Returns the classes of Roboflow's file."""
    rows = [[cell.strip() for cell in row] for row in read_csv(path) if row][1:]
    try:
        values = [parse_integer(row[0]) for row in rows]
    except ValueError as error:
        raise DataError(f"{short(path)}: a value {error}") from None
    if values != [*range(len(rows))] or not all(len(row) > 1 for row in rows):
        raise DataError(
            f"{short(path)} has the values {values}; it needs 0, 1 ..., and a name for each"
        )
    return [(",".join(row[1:]), None) for row in rows]


_FORMS = {_LABEL_MAP: _label_map_entries, _TABLE: _table_entries}


def _entry(path: Path, line: str) -> _Entry:
    """Returns name and colour of a line; None without a colour."""
    name, channels = _divide(line)
    if not channels:
        return line, None
    red, green, blue = channels
    if not name or max(red, green, blue) > 255:
        raise DataError(f"{short(path)}: the line {brief(line)} is wrong; it needs {_FORM}")
    return name, red << 16 | green << 8 | blue


def _divide(line: str) -> tuple[str, list[int]]:
    """Returns the name of a line, and its red, green and blue if it has them."""
    match = _COLOUR.match(line[::-1])
    if match is None:
        return line, []
    blue, green, red = (int(digits[::-1]) for digits in match.groups())
    return line[: len(line) - match.end()], [red, green, blue]


def _colours(path: Path, entries: Sequence[_Entry], ignore_label: int) -> dict[int, int]:
    without = [name for name, colour in entries if colour is None]
    if len(without) == len(entries):
        return {}
    if without:
        raise DataError(
            f"{short(path)}: {without[0]} has no colour, but other classes have; add it"
        )
    numbers = iter(range(len(entries)))
    colours: dict[int, int] = {}
    for name, colour in entries:
        assert colour is not None
        if colour in colours:
            raise DataError(f"{short(path)}: two classes have the colour of {name}; change one")
        colours[colour] = ignore_label if name == _IGNORED else next(numbers)
    return colours


def _check_once(path: Path, names: Sequence[str]) -> None:
    name, count = Counter(map(normal_name, names)).most_common(1)[0]
    if count > 1:
        raise DataError(
            f"{short(path)} has the class {brief(name)} {count} times; rename or remove one"
        )
