"""Label maps of the object detection API: ids and names of classes.

    item {
      id: 1
      name: 'cat'
      display_name: 'Cat'
    }

Form: tensorflow/models, research/object_detection/protos/string_int_label_map.proto. A file with
the names of classes, a line each, is one with the ids 1, 2 ...
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from tf_frame.errors import DataError
from tf_frame.text_file import read_text
from tf_frame_vision.reading.class_names import find_repeated, read_class_names

FILE = "label_map.pbtxt"
_ITEM = re.compile(r"\bitem\s*:?\s*\{([^{}]*)\}")
_FIELD = re.compile(r"""\b(id|name|display_name)\s*:\s*(?:(-?\d+)|"([^"]*)"|'([^']*)')""")


def read_label_map(path: Path) -> Mapping[int, str]:
    """Returns the name of each id, in the order of the ids; id 0, the background, is left out.

    Raises:
      DataError: the file cannot be read, has no item, one without id or name, an id that is
        negative, or an id or a name twice.
    """
    text = read_text(path)
    names = parse_items(text, str(path))
    if not names:
        if path.suffix == ".pbtxt":
            raise DataError(f"{path} has no item {{ id: 1 name: 'x' }}")
        return dict(enumerate(read_class_names(path), 1))
    twice = find_repeated(names.values())
    if twice is not None:
        raise DataError(f"{path} names the class {twice!r} twice; rename one")
    names.pop(0, None)
    if min(names, default=0) < 1:
        raise DataError(
            f"{path} has no id above 0, or a negative one; classes have the ids 1, 2 ..."
        )
    return dict(sorted(names.items()))


def parse_items(text: str, path: str) -> dict[int, str]:
    """Returns the name of each id, in the order of a label map; empty if the text is none.

    Args:
      text: the label map.
      path: its file, for errors.

    Raises:
      DataError: an item without id or name, or an id twice.
    """
    names: dict[int, str] = {}
    for item in _ITEM.findall(text):
        fields = {key: "".join(values) for key, *values in _FIELD.findall(item)}
        name = fields.get("name", fields.get("display_name"))
        if name is None or not re.fullmatch(r"-?\d+", fields.get("id", "")):
            raise DataError(f"{path}: the item {' '.join(item.split())!r} has no id or no name")
        if int(fields["id"]) in names:
            raise DataError(f"{path} has the id {fields['id']} twice")
        names[int(fields["id"])] = name
    return names


def label_map_lines(ids: Sequence[int], names: Sequence[str]) -> list[str]:
    """Returns the lines of a label map."""
    items = [
        ["item {", f"  id: {id_}", f"  name: {_quoted(name)}", "}"]
        for id_, name in zip(ids, names, strict=True)
    ]
    return [line for item in items for line in item]


def _quoted(name: str) -> str:
    return f'"{name}"' if "'" in name else f"'{name}'"
