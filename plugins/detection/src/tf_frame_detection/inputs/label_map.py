"""Label maps of the object detection API: ids and names of classes.

    item {
      name: "cat"
      id: 1
      display_name: "Cat"
    }

Text format of protocol buffers, with the fields of tensorflow/models,
research/object_detection/protos/string_int_label_map.proto; other fields are left out. A file with
the names of classes, a line each, is one with the ids 1, 2 ...; a background in the first line has
the id 0.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tf_frame.errors import DataError
from tf_frame.text import brief, short
from tf_frame.text_file import read_text
from tf_frame_vision.reading.class_names import find_repeated, is_background, read_class_names

FILE = "label_map.pbtxt"
_PACKAGE = "tf_frame_detection"
# Number, name, and type of each field. The API has ids of 32 bits, COCO's files also larger ones.
_FIELDS = {
    "Keypoint": ((1, "id", "INT64"), (2, "label", "STRING")),
    "Item": (
        (1, "name", "STRING"),
        (2, "id", "INT64"),
        (3, "display_name", "STRING"),
        (4, "keypoints", "Keypoint"),
        (5, "ancestor_ids", "INT64"),
        (6, "descendant_ids", "INT64"),
        (7, "frequency", "Frequency"),
        (8, "instance_count", "INT64"),
    ),
    "LabelMap": ((1, "item", "Item"),),
}
# How often LVIS's images have a class, from number 0 on.
_FREQUENCIES = ("UNSPECIFIED", "FREQUENT", "COMMON", "RARE")
_REPEATED = ("item", "keypoints", "ancestor_ids", "descendant_ids")
# A list of names may have a class `item`, but hardly a line like this.
_ITEM = re.compile(r"^[ \t]*item\s*(?::\s*)?[{<]", re.MULTILINE)
_TYPOGRAPHIC = re.compile("[\u2018-\u201f\u00ab\u00bb]")


def read_label_map(path: Path) -> Mapping[int, str]:
    """Returns the name of each id, in the order of the ids, but that of a background with id 0.

    The API keeps the id 0 for the background, which no box has.

    Raises:
      DataError: the file cannot be read, has no item, one without id or name, an id that is
        negative, or an id or a name twice.
    """
    text = read_text(path)
    if path.suffix != ".pbtxt" and not _ITEM.search(text):
        lines = read_class_names(path)
        names = dict(enumerate(lines, 0 if is_background(lines[0]) else 1))
    else:
        names = parse_items(text, str(path))
    if not names:
        raise DataError(f"{short(path)} has no item {{ id: 1 name: 'x' }}")
    twice = find_repeated(names.values())
    if twice is not None:
        raise DataError(f"{short(path)} names the class {brief(twice)} twice; rename one")
    if is_background(names.get(0, "")):
        del names[0]
    if not names:
        raise DataError(
            f"{short(path)} names no class but the background; classes have the ids 1, 2 ..."
        )
    if min(names) < 0:
        raise DataError(
            f"{short(path)} has the negative id {min(names)}; classes have the ids 1, 2 ..."
        )
    return dict(sorted(names.items()))


def parse_items(text: str, path: str) -> dict[int, str]:
    """Returns the name of each id, in the order of a label map; empty if it has no item.

    Args:
      text: the label map.
      path: its file, for errors.

    Raises:
      DataError: the text is no label map, an item is without id or name, or an id occurs twice.
    """
    from google.protobuf import text_format

    if not _ITEM.search(text):
        return {}
    names: dict[int, str] = {}
    for item in parse_label_map(text, path).item:
        if not item.HasField("id") or not (item.HasField("name") or item.HasField("display_name")):
            shown = text_format.MessageToString(item, as_one_line=True)
            raise DataError(f"{short(path)}: the item {brief(shown)} has no id or no name")
        if item.id in names:
            raise DataError(f"{short(path)} has the id {item.id} twice")
        names[item.id] = item.name if item.HasField("name") else item.display_name
    return names


def parse_label_map(text: str, path: str) -> Any:
    """Returns the message of a label map, with a list `item`.

    Raises:
      DataError: the text is no label map.
    """
    from google.protobuf import text_format

    label_map = _message_class()()
    try:
        return text_format.Parse(text, label_map, allow_unknown_field=True)
    except text_format.ParseError as error:
        place = f"{path}, line {error.GetLine()}" if error.GetLine() else path
        reason = " ".join(re.sub(r"^\d+:\d+ : ", "", str(error)).split())
    except (RecursionError, ValueError) as error:
        place, reason = path, str(error)
    hint = "it needs items as item { id: 1 name: 'x' }"
    if _TYPOGRAPHIC.search(text):
        hint = "write straight quotes around names, 'x' or \"x\", instead of typographic ones"
    raise DataError(f"{place}: this is no label map: {reason}; {hint}")


def label_map_lines(ids: Sequence[int], names: Sequence[str]) -> list[str]:
    """Returns the lines of a label map.

    Raises:
      DataError: an id does not fit into 64 bits, or a name is no Unicode.
    """
    from google.protobuf import text_format

    label_map = _message_class()()
    for id_, name in zip(ids, names, strict=True):
        try:
            label_map.item.add(id=id_, name=name)
        except ValueError as error:
            raise DataError(
                f"a label map cannot hold the class {brief(name)} with the id {id_}: {error}"
            ) from None
    text: str = text_format.MessageToString(label_map, as_utf8=True)
    return text.split("\n")[:-1]


@functools.cache
def _message_class() -> Any:
    """Returns the class of label maps, in a pool of its own: the API may be installed, too."""
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    kinds = descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(name=f"{_PACKAGE}.proto", package=_PACKAGE)
    frequency = file.enum_type.add(name="Frequency")
    for number, name in enumerate(_FREQUENCIES):
        frequency.value.add(name=name, number=number)
    for message, fields in _FIELDS.items():
        described = file.message_type.add(name=message)
        for number, name, kind in fields:
            label = kinds.LABEL_REPEATED if name in _REPEATED else kinds.LABEL_OPTIONAL
            field = described.field.add(name=name, number=number, label=label)
            if kind in (*_FIELDS, "Frequency"):
                field.type = kinds.TYPE_MESSAGE if kind in _FIELDS else kinds.TYPE_ENUM
                field.type_name = f".{_PACKAGE}.{kind}"
            else:
                field.type = kinds.Type.Value(f"TYPE_{kind}")
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    descriptor = pool.FindMessageTypeByName(f"{_PACKAGE}.LabelMap")
    return message_factory.GetMessageClass(descriptor)
