"""Reads XPlane captures without TensorFlow.

    for line in read_lines("h_ps_0.xplane.pb"):
        print(line.plane, line.name, len(line.events))

The format is tsl/profiler/protobuf/xplane.proto. This module declares the fields that it needs,
because importing TensorFlow's own class takes seconds.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from tf_frame import file_system
from tf_frame.errors import DataError
from tf_frame.text import short

# Prefix of Eigen's events, which are more than nine tenths of a capture of a large network.
THREADPOOL = "ThreadpoolListener::"
_PACKAGE = "tf_frame.xplane"
# Message -> field -> (number, type); a type in brackets is repeated.
_MESSAGES: Mapping[str, Mapping[str, tuple[int, str]]] = {
    "XSpace": {"planes": (1, "[XPlane]")},
    "XPlane": {
        "name": (2, "string"),
        "lines": (3, "[XLine]"),
        "event_names": (4, "[EventName]"),
        "stat_names": (5, "[StatName]"),
        "stats": (6, "[XStat]"),
    },
    # Entries of maps from ids.
    "EventName": {"key": (1, "int64"), "value": (2, "Name")},
    "StatName": {"key": (1, "int64"), "value": (2, "Name")},
    "Name": {"name": (2, "string"), "display_name": (4, "string")},
    "XLine": {
        "name": (2, "string"),
        "timestamp_ns": (3, "int64"),
        "events": (4, "[XEvent]"),
        "display_name": (11, "string"),
    },
    "XEvent": {"metadata_id": (1, "int64"), "offset_ps": (2, "int64"), "duration_ps": (3, "int64")},
    "XStat": {
        "metadata_id": (1, "int64"),
        "uint64_value": (3, "uint64"),
        "int64_value": (4, "int64"),
    },
}


class Event(NamedTuple):
    """An event on a thread or stream; times are nanoseconds since 1970."""

    name: str
    begin: int
    end: int


class Line(NamedTuple):
    """A thread or a stream of a plane, such as `/host:CPU`."""

    plane: str
    name: str
    events: Sequence[Event]  # By rising begin, and by falling length.


def read_lines(path: str, *, keep_threadpool: bool = False) -> list[Line]:
    """Reads the threads of a capture that have events, with or without Eigen's thread pools.

    Raises:
      DataError: the file cannot be read, or is no capture.
    """
    # `google.protobuf` takes a while to import.
    from google.protobuf.message import DecodeError

    try:
        space = _messages()["XSpace"].FromString(file_system.read_bytes(path))
    except (OSError, DecodeError) as error:
        raise DataError(f"{short(path)} is no XPlane capture, or damaged: {error}") from error
    start = next(filter(None, map(_profile_start, space.planes)), 0)
    lines = [line for plane in space.planes for line in _lines(plane, start, keep_threadpool)]
    return [line for line in lines if line.events]


def _profile_start(plane: Any) -> int:
    """Begin of the capture, from the plane `Task Environment`; 0 for other planes."""
    names = {entry.key: entry.value.name for entry in plane.stat_names}
    for stat in plane.stats:
        if names.get(stat.metadata_id) == "profile_start_time":
            return int(stat.uint64_value or stat.int64_value)
    return 0


def _lines(plane: Any, start: int, keep_threadpool: bool) -> Iterator[Line]:
    names = {entry.key: entry.value.display_name or entry.value.name for entry in plane.event_names}
    if not keep_threadpool:
        names = {key: name for key, name in names.items() if not name.startswith(THREADPOOL)}
    for line in plane.lines:
        zero = start + line.timestamp_ns
        events = [
            Event(
                names[event.metadata_id],
                zero + event.offset_ps // 1000,
                zero + (event.offset_ps + event.duration_ps) // 1000,
            )
            for event in line.events
            if event.metadata_id in names
        ]
        events.sort(key=lambda event: (event.begin, -event.end))
        yield Line(plane.name, line.display_name or line.name, events)


@functools.cache
def _messages() -> Mapping[str, Any]:
    """The classes of the messages, in a pool apart from TensorFlow's."""
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    file = descriptor_pb2.FileDescriptorProto(
        name=f"{_PACKAGE}.proto", package=_PACKAGE, syntax="proto3"
    )
    for message, fields in _MESSAGES.items():
        declared = file.message_type.add(name=message)
        for field, (number, kind) in fields.items():
            declared.field.append(_field(field, number, kind))
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return {
        name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{_PACKAGE}.{name}"))
        for name in _MESSAGES
    }


def _field(name: str, number: int, kind: str) -> Any:
    from google.protobuf.descriptor_pb2 import FieldDescriptorProto as Field

    field = Field(name=name, number=number, label=Field.LABEL_OPTIONAL)
    if kind.startswith("["):
        field.label, kind = Field.LABEL_REPEATED, kind[1:-1]
    if kind in _MESSAGES:
        field.type, field.type_name = Field.TYPE_MESSAGE, f".{_PACKAGE}.{kind}"
    else:
        field.type = Field.Type.Value(f"TYPE_{kind.upper()}")
    return field
