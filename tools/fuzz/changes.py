"""Random changes of files: bytes, tokens of text, features of records."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

import tensorflow.compat.v1 as tf
from google.protobuf.message import DecodeError
from structure import change_entry, change_structure

_OUTSIDE = ("../outside/canary.png", "..\\outside\\canary.png", "{outside}/canary.png")
_TOKENS = (
    *("", " ", "0", "-1", "1", "1.0", '"1"', "1e309", "-1e309", "NaN", "Infinity", "-0.0", "0.5"),
    *("null", "true", "[]", "{}", "[[[]]]", "9" * 30, "9" * 5000, "2147483648", "1e-320", "0x10"),
    *("\u0000", "\u2028", "\ufeff", "na\u00efve", "\x1b[31m", "=1+1", "<", ">", "&x;", "\\", "'"),
    *('"', "\n", "\r", "\t", "{", "}", "[" * 3000, "{" * 500, "%s", "*", "?", ".", "..", "/", "~"),
)
_TOKEN = re.compile(r"[\w.-]+|[^\w\s]")
_IS_TEXT = {".json", ".xml", ".txt", ".yaml", ".pbtxt"}


def damage(path: Path, random: Random, outside: Path) -> str:
    """Changes a file at random, and returns a description.

    Args:
      path: the file.
      random: decides on the change.
      outside: a folder that nothing may read.
    """
    if random.random() < 0.05:
        return change_entry(path, random)
    if path.suffix == ".tfrecord" and random.random() < 0.8:
        return _damage_records(path, random)
    if random.random() < 0.65:
        changed = change_structure(path, path.read_bytes(), random, str(outside))
        if changed is not None:
            path.write_bytes(changed)
            return f"structure of {path.name}"
    if path.suffix in _IS_TEXT and random.random() < 0.8:
        changes: Sequence[Callable[..., bytes]] = (
            *(_replace_tokens, _change_lines, _other_encoding, _insert_run),
        )
    else:
        changes = (_flip_bits, _cut, _insert, _repeat, _empty)
    change = random.choice(changes)
    content = change(path.read_bytes(), random, str(outside))
    path.write_bytes(content)
    return f"{change.__name__.strip('_')} {path.name}"


def multiply(path: Path, random: Random, count: int) -> None:
    """Makes many damaged examples of one: records of a file, or images and masks of a name."""
    if path.suffix == ".tfrecord":
        record = _read_records(path)[0]
        write_records(path, [_damaged_record(record, random)[0] for _ in range(count)])
        return
    for number in range(count):
        # An image and its mask have one name.
        for file in [*path.parent.parent.glob(f"*/{path.stem}{path.suffix}")]:
            content = file.read_bytes()
            if file == path or random.random() < 0.3:
                changes: Sequence[Callable[..., bytes | None]]
                changes = (_flip_bits, _flip_bits, _cut, _insert, _repeat, _empty)
                if random.random() < 0.4:
                    content = change_structure(file, content, random, "") or content
                else:
                    content = random.choice(changes)(content, random, "") or b""
            file.with_stem(f"{path.stem}x{number}").write_bytes(content)


def write_records(path: Path, records: Sequence[Mapping[str, Any] | bytes]) -> None:
    """Writes a file of records: features, or bytes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tf.io.TFRecordWriter(str(path)) as writer:
        for record in records:
            writer.write(record if isinstance(record, bytes) else _example(record))


def _example(features: Mapping[str, Any]) -> bytes:
    example = tf.train.Example()
    for name, values in features.items():
        feature = example.features.feature[name]
        if isinstance(values[0], bytes):
            feature.bytes_list.value.extend(values)
        elif isinstance(values[0], float):
            feature.float_list.value.extend(values)
        else:
            feature.int64_list.value.extend(values)
    serialised: bytes = example.SerializeToString()
    return serialised


def _damage_records(path: Path, random: Random) -> str:
    """Changes a record and writes the file anew, with the right checksums."""
    records = _read_records(path)
    index = random.randrange(len(records))
    records[index], what = _damaged_record(records[index], random)
    write_records(path, records)
    return f"{what} in record {index} of {path.name}"


def _damaged_record(record: bytes, random: Random) -> tuple[bytes, str]:
    example = _parsed(record)
    if random.random() < 0.3 or example is None:
        change = random.choice((_flip_bits, _cut, _insert, _repeat, _empty))
        return change(record, random, ""), change.__name__.strip("_")
    what = [_damage_feature(example, random) for _ in range(random.choice((1, 1, 2)))]
    return example.SerializeToString(), ", ".join(what)


def _read_records(path: Path) -> list[bytes]:
    content, start, records = path.read_bytes(), 0, []
    while start < len(content):
        (length,) = struct.unpack_from("<Q", content, start)
        records.append(content[start + 12 : start + 12 + length])
        start += 16 + length
    return records


def _parsed(record: bytes) -> Any:
    """Returns the example of a record; None if an earlier change broke the record."""
    try:
        example = tf.train.Example.FromString(record)
    except DecodeError:
        return None
    return example if example.features.feature else None


def _damage_feature(example: Any, random: Random) -> str:
    features = example.features.feature
    if not features:
        return "nothing"
    name = random.choice(sorted(features))
    feature = features[name]
    kind = feature.WhichOneof("kind")
    values = list(getattr(feature, kind).value) if kind else []
    what = random.choice(("missing", "empty", "other type", "more values", "value"))
    if what == "missing":
        del features[name]
    elif what == "empty":
        feature.Clear()
    elif what == "other type":
        feature.Clear()
        if random.random() < 0.5:
            feature.float_list.value.append(random.choice((0.5, float("nan"), 1e30)))
        elif kind == "bytes_list":
            feature.int64_list.value.append(random.choice((0, -1, 2**62)))
        else:
            feature.bytes_list.value.append(random.choice((b"", b"1", b"\xff\0")))
    elif what == "more values" and values:
        getattr(feature, kind).value.extend(values * random.choice((1, 7)))
    elif values:
        values[random.randrange(len(values))] = _other_value(values[0], random)
        getattr(feature, kind).ClearField("value")
        getattr(feature, kind).value.extend(values)
    return f"{what} of {name}"


def _other_value(value: Any, random: Random) -> Any:
    if isinstance(value, bytes):
        change = random.choice((_flip_bits, _cut, _insert, _empty))
        return change(value, random, "")
    if isinstance(value, float):
        return random.choice((float("nan"), float("inf"), -1.0, 1e30, 0.0, 1.0001))
    return random.choice((-1, 0, 255, 2**31, 2**62, -(2**63)))


def _flip_bits(content: bytes, random: Random, _: str) -> bytes:
    changed = bytearray(content)
    # The header of a format has most of the traps.
    limit = random.choice((64, len(changed)))
    for _number in range(random.choice((1, 1, 3, 20))):
        if changed:
            changed[random.randrange(min(limit, len(changed)))] ^= 1 << random.randrange(8)
    return bytes(changed)


def _cut(content: bytes, random: Random, _: str) -> bytes:
    return content[: random.randrange(len(content) + 1)]


def _insert(content: bytes, random: Random, _: str) -> bytes:
    place = random.randrange(len(content) + 1)
    return content[:place] + random.randbytes(random.choice((1, 4, 100))) + content[place:]


def _repeat(content: bytes, random: Random, _: str) -> bytes:
    start = random.randrange(len(content) + 1)
    end = random.randrange(start, len(content) + 1)
    return content[:end] + content[start:end] * random.choice((1, 2, 50)) + content[end:]


def _empty(content: bytes, random: Random, _: str) -> bytes:
    return random.choice((b"", b"\0" * len(content), b"\n"))


def _replace_tokens(content: bytes, random: Random, outside: str) -> bytes:
    text = content.decode(errors="replace")
    for _number in range(random.choice((1, 1, 2, 5))):
        places = list(_TOKEN.finditer(text))
        if not places:
            break
        place = random.choice(places)
        token = random.choice((*_TOKENS, *(path.format(outside=outside) for path in _OUTSIDE)))
        if random.random() < 0.2:
            token = random.choice(places).group()
        text = text[: place.start()] + token + text[place.end() :]
    return text.encode()


def _insert_run(content: bytes, random: Random, _: str) -> bytes:
    """Inserts one text many times, at which slow patterns and parsers take minutes."""
    run = random.choice((*" \n\t0'\",{[<.(/\\a=:-", "\r\n", "a ", " 1", "item ", "a\n"))
    places = [0, len(content), *(match.end() for match in re.finditer(rb"[\s,:>]", content))]
    place = random.choice(places)
    return content[:place] + run.encode() * 100_000 + content[place:]


def _change_lines(content: bytes, random: Random, _: str) -> bytes:
    pieces = re.split(rb"(?<=[\n,>}])", content)
    index, other = random.randrange(len(pieces)), random.randrange(len(pieces))
    what = random.choice(("drop", "repeat", "swap", "many"))
    if what == "drop":
        del pieces[index]
    elif what == "swap":
        pieces[index], pieces[other] = pieces[other], pieces[index]
    else:
        pieces[index:index] = [pieces[index]] * (1 if what == "repeat" else 2000)
    return b"".join(pieces)


def _other_encoding(content: bytes, random: Random, _: str) -> bytes:
    text = content.decode(errors="replace")
    encoding = random.choice(("utf-8-sig", "utf-16", "utf-32", "utf-16-be", "cp500"))
    return text.encode(encoding, "replace")
