"""Facts about the records of TFRecord files before the first step: labels, sizes, copies.

A small data set is read whole; of a large one some records are read, evenly over all. A record that
cannot be read is left out here; reading the examples names it. Does not import TensorFlow.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import struct
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tf_frame_vision.reading.image_header import ImageError, read_header
from tf_frame_vision.reading.record_index import RecordIndex

IMAGE = "image/encoded"
_MOST_BYTES, _SOME = 64 << 20, 500
_PICTURES = 6
_LENGTH = struct.Struct("<Q")
_HEADER_BYTES = 12
_LISTS = {"bytes_list": "BYTES", "float_list": "FLOAT", "int64_list": "INT64"}

# From a key to the values of this feature; empty: the record has none.
Values = Callable[[str], Sequence[Any]]


@dataclasses.dataclass(frozen=True)
class RecordFacts:
    """Facts about all records, or some of them.

    Attributes:
      names: of the records, such as `data/train-00000-of-00004: record 7`.
      labels: of each record.
      sizes: height and width of each image as shown.
      digests: of each encoded image.
      pictures: some encoded images, evenly chosen.
      counted: number of records; None: all.
    """

    names: Sequence[str]
    labels: Sequence[Any]
    sizes: Sequence[tuple[int, int]]
    digests: Sequence[str]
    pictures: Sequence[bytes]
    counted: int | None


def read_record_facts(
    indices: Sequence[RecordIndex],
    read_label: Callable[[Values], Any],
    *,
    max_pixels: int,
    most: int = 5000,
) -> RecordFacts:
    """Reads facts about records.

    Args:
      indices: the records of each file.
      read_label: returns the label of a record; None: it has none that can be used.
      max_pixels: see `image_header.read_header`.
      most: a data set with at most so many records, and 64 MB, is read whole.
    """
    count = sum(len(index.offsets) for index in indices)
    num_bytes = sum((index.copy or index.path).stat().st_size for index in indices)
    step = 1 if count <= most and num_bytes <= _MOST_BYTES else -(-count // min(most, _SOME))
    rows, pictures, number = [], [], -(-count // step)
    for place, (name, values) in enumerate(_records(indices, step)):
        image, label = first_bytes(values(IMAGE)), read_label(values)
        size = _shown_size(image, max_pixels)
        if size is None or label is None:
            continue
        rows.append((name, label, size, hashlib.blake2b(image, digest_size=16).hexdigest()))
        if place % max(number // _PICTURES, 1) == 0:
            pictures.append(image)
    names, labels, sizes, digests = zip(*rows, strict=True) if rows else ((), (), (), ())
    counted = None if len(rows) == count else len(rows)
    return RecordFacts(names, labels, sizes, digests, pictures[:_PICTURES], counted)


def first_bytes(values: Sequence[Any]) -> bytes:
    """Returns the first value of a feature; empty where there is none, or one of another type."""
    return values[0] if values and isinstance(values[0], bytes) else b""


def _shown_size(image: bytes, max_pixels: int) -> tuple[int, int] | None:
    try:
        header = read_header(image, max_pixels=max_pixels)
    except ImageError:
        return None
    return header.height, header.width


def _records(indices: Sequence[RecordIndex], step: int) -> Iterator[tuple[str, Values]]:
    """Yields name and features of every so many records."""
    from google.protobuf.message import DecodeError

    first = 0
    for index in indices:
        with open(index.copy or index.path, "rb") as file:
            for number in range(first, len(index.offsets), step):
                file.seek(index.offsets[number])
                (length,) = _LENGTH.unpack(file.read(_HEADER_BYTES)[: _LENGTH.size])
                try:
                    example = _example_class().FromString(file.read(length))
                except DecodeError:
                    continue
                values = functools.partial(_values, example.features.feature)
                yield f"{index.path}: record {number}", values
        first = (first - len(index.offsets)) % step


def _values(features: Any, key: str) -> Sequence[Any]:
    if key not in features:
        return ()
    kind = features[key].WhichOneof("kind")
    values: Sequence[Any] = getattr(features[key], kind).value if kind else ()
    return values


@functools.cache
def _example_class() -> Any:
    """Returns the class of `tf.train.Example`, in a pool of its own, without TensorFlow.

    Source: tensorflow/core/example/example.proto and feature.proto.
    """
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    kinds = descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(name="example.proto", package="e", syntax="proto3")

    def add(message: Any, number: int, name: str, kind: str, **more: Any) -> None:
        named = {"type": kinds.TYPE_MESSAGE, "type_name": f".e.{kind}"}
        if kind.isupper():
            named = {"type": kinds.Type.Value(f"TYPE_{kind}")}
        more = {"label": kinds.LABEL_OPTIONAL} | more
        message.field.add(name=name, number=number, **named, **more)

    feature = file.message_type.add(name="Feature")
    feature.oneof_decl.add(name="kind")
    for number, (name, kind) in enumerate(_LISTS.items(), 1):
        add(file.message_type.add(name=name), 1, "value", kind, label=kinds.LABEL_REPEATED)
        add(feature, number, name, name, oneof_index=0)
    features = file.message_type.add(name="Features")
    entry = features.nested_type.add(name="FeatureEntry", options={"map_entry": True})
    add(entry, 1, "key", "STRING")
    add(entry, 2, "value", "Feature")
    add(features, 1, "feature", "Features.FeatureEntry", label=kinds.LABEL_REPEATED)
    add(file.message_type.add(name="Example"), 1, "features", "Features")
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("e.Example"))
