"""`labels.txt`: the name of each class, as `0:daisy`, one a line.

Source: slim, datasets/dataset_utils.py.
"""

from __future__ import annotations

from pathlib import Path

from tf_frame.errors import DataError


def read_label_file(path: Path) -> dict[int, str]:
    """Reads which name each label has.

    Raises:
      DataError: it cannot be read, has a line of another form, names a label twice, or has
        no line at all.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path} cannot be read: {error}") from None
    numbered = [(number, line) for number, line in enumerate(lines, 1) if line.strip()]
    names: dict[int, str] = {}
    for number, line in numbered:
        label, name = _label_and_name(path, number, line)
        if label in names:
            raise DataError(
                f"{path}, line {number} names the label {label} again; give each label one name"
            )
        names[label] = name
    if not names:
        raise DataError(f"{path} is empty; it needs a line such as 0:daisy for each class")
    return names


def _label_and_name(path: Path, number: int, line: str) -> tuple[int, str]:
    label, colon, name = line.partition(":")
    if not colon or not label.strip().isdecimal():
        raise DataError(
            f"{path}, line {number} is {line!r}; it must be a label, a colon and a name, such as"
            " 0:daisy"
        )
    return int(label), name.strip()
