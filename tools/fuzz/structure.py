"""Random changes that keep a file well-formed: of values in JSON, elements in XML, headers."""

from __future__ import annotations

import json
import os
import re
import struct
import zlib
from pathlib import Path
from random import Random
from typing import Any

_NUMBERS = (-1, 0, 1.5, 2**31, 2**63, -(2**63) - 1, 10**400, 1e308, float("nan"), float("-inf"))
TEXTS = (
    *("", " ", "..", "/", "/dev/zero", "../outside/canary.png", "..\\outside\\canary.png"),
    *("C:\\canary.png", "file:///etc/passwd", "a\0b", "a\nb", "\x1b[31mred", "=1+1", "\u202eabc"),
    *("\u2028", "e\u0301", "x" * 300, "x" * 5000, "~/canary.png", "$HOME", "%2e%2e/canary.png"),
)
_SIDES = (0, 1, 255, 12000, 13300, 16384, 65535)
_BOMB = (
    '<!DOCTYPE a [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;">'
    '<!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;&b;">]>'
)
_YAML = (
    "a: &a [x, x, x, x, x, x, x, x, x]\nb: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a]\n"
    "c: &c [*b, *b, *b, *b, *b, *b, *b, *b, *b]\nd: &d [*c, *c, *c, *c, *c, *c, *c, *c, *c]\n"
    "path: &e [*d, *d, *d, *d, *d, *d, *d, *d, *d]\ntrain: [*e, *e, *e, *e, *e, *e, *e, *e]\n",
    "path: &a [*a]\n",
    "path: !!python/object/apply:os.getcwd []\n",
    "path: !!binary AAAA\ntrain: !!set {a, b}\n",
    "<<: &a {train: images/train}\nval: *a\n",
    "train: ../outside\nval: {outside}\n",
    'train: "images/train\\0"\n',
    "? [a, b]\n: c\n",
    "train: " + "[" * 2000 + "\n",
    "train: [" + ", ".join(["images/train"] * 50) + "]\n",
    "nc: 99999999999\n",
    "kpt_shape: [1e400, -3]\n",
)
_PROTO = (
    *("item {}", "item { id: 99999999999999999999 name: 'x' }", "item { id: -1 name: 'x' }"),
    *(
        "item { id: 3 name: '\\377' }",
        "item { id: 3 name: '\\000' }",
        "item { id: 0x10 name: 'x' }",
    ),
    *("item: [{ id: 3 name: 'a' }, { id: 4 name: 'b' }]", "item < id: 3 name: 'a' 'b' >"),
    *("[a.b]: 1", "item { [type.googleapis.com/x.Y] { a: 1 } }", "x { " * 3000 + "}" * 3000),
    *("item { id: 3 id: 4 name: 'x' }", "item { id: 3 name: x }", "item { id: 1e3 name: 'x' }"),
    *("item { id: 3 display_name: '\\u202e' }", "# c", "item { id: 3 name: '\\n\\r\\x1b[31m' }"),
)


def change_structure(path: Path, content: bytes, random: Random, outside: str) -> bytes | None:
    """Returns a changed content; None if there is no such change for the file.

    Args:
      path: the file, which tells the format.
      content: its content.
      random: decides on the change.
      outside: a folder that nothing may read.
    """
    functions: dict[str, Any] = {
        ".json": _change_json,
        ".xml": _change_xml,
        ".yaml": lambda *arguments: _add(*arguments, _YAML),
        ".pbtxt": lambda *arguments: _add(*arguments, _PROTO),
        **dict.fromkeys((".png", ".jpg", ".gif", ".bmp"), _change_size),
    }
    function = functions.get(path.suffix)
    return function(content, random, outside) if function else None


def change_entry(path: Path, random: Random) -> str:
    """Changes a file's entry in its folder, and returns a description."""
    what = random.choice(
        ("pipe", "link to a pipe", "link in a circle", "no file", "folder", "name")
    )
    if what == "name":
        stem = random.choice((b"\xff\xfe", b"a\nb", b"\x1b[31m", b"e\xcc\x81", b" ", b"a" * 240))
        os.rename(path, os.path.join(os.fsencode(path.parent), stem + os.fsencode(path.suffix)))
        return f"name {stem!r} of {path.name}"
    path.unlink()
    if what == "pipe":
        os.mkfifo(path)
    elif what == "link to a pipe":
        os.mkfifo(path.parent / ".pipe")
        path.symlink_to(".pipe")
    elif what == "link in a circle":
        path.symlink_to(path.name)
    elif what == "folder":
        path.mkdir()
    return f"{what} at {path.name}"


def _odd_value(random: Random, outside: str) -> Any:
    kind = random.choice(("number", "text", "text", "other"))
    if kind == "number":
        return random.choice(_NUMBERS)
    if kind == "text":
        return random.choice((*TEXTS, f"{outside}/canary.png", f"{outside}"))
    return random.choice((None, True, [], {}, [[]], [None], {"": 0}, [1] * 2000, [[1, 2]] * 3))


def _change_json(content: bytes, random: Random, outside: str) -> bytes:
    try:
        root = json.loads(content)
    except (ValueError, RecursionError):
        return content
    for _number in range(random.choice((1, 1, 2, 4))):
        places = [*_places(root)]
        if not places:
            break
        container, key = random.choice(places)
        what = random.choice(("value", "value", "drop", "repeat", "exchange", "deep"))
        if what == "drop":
            del container[key]
        elif what == "repeat" and isinstance(container, list):
            container[key:key] = [container[key]] * random.choice((1, 500))
        elif what == "exchange":
            other, other_key = random.choice(places)
            container[key] = json.loads(json.dumps(other[other_key]))
        elif what == "deep":
            for _level in range(150):
                container[key] = [container[key]]
        else:
            container[key] = _odd_value(random, outside)
    text = json.dumps(root)
    if random.random() < 0.1:  # A key that occurs twice.
        text = re.sub(r'("\w+"): ([^,{}\[\]]+)', r"\1: 7, \1: \2", text, count=1)
    return text.encode()


def _places(value: Any) -> Any:
    if isinstance(value, (dict, list)):
        for key in list(value) if isinstance(value, dict) else range(len(value)):
            yield value, key
            yield from _places(value[key])


def _change_xml(content: bytes, random: Random, outside: str) -> bytes:
    text = content.decode(errors="replace")
    elements = [*re.finditer(r"<(\w+)>[^<>]*</\1>", text)]
    what = random.choice(("value", "value", "drop", "repeat", "bomb", "file", "deep", "encoding"))
    if what == "bomb":
        return f"{_BOMB}{text.replace('cat', '&c;')}".encode()
    if what == "file":
        entity = f'<!DOCTYPE a [<!ENTITY x SYSTEM "file://{outside}/canary.png">]>'
        return f"{entity}{text.replace('cat', '&x;')}".encode()
    if what == "encoding":
        name = random.choice(("utf-16", "latin-1", "utf-7", "rot13", "idna", "x", "hex", "cp1252"))
        return f'<?xml version="1.0" encoding="{name}"?>{text}'.encode()
    if not elements:
        return content
    place = random.choice(elements)
    value = str(_odd_value(random, outside)).replace("<", "&lt;")
    new = {
        "drop": "",
        "repeat": place[0] * random.choice((2, 500)),
        "deep": "<object>" * 3000 + place[0] + "</object>" * 3000,
    }.get(what, f"<{place[1]}>{value}</{place[1]}>")
    return (text[: place.start()] + new + text[place.end() :]).encode("utf-8", "replace")


def _add(content: bytes, random: Random, outside: str, lines: tuple[str, ...]) -> bytes:
    """Adds lines at the beginning or the end, or takes the place of all."""
    line = random.choice(lines).replace("{outside}", outside).encode() + b"\n"
    return random.choice((content + line, line + content, line))


def _change_size(content: bytes, random: Random, _: str) -> bytes:
    """Returns an image with another size in its header, and the right checksum of a PNG."""
    width, height = random.choice(_SIDES), random.choice(_SIDES)
    if content.startswith(b"\x89PNG") and len(content) > 33:
        chunk = content[12:16] + struct.pack(">II", width, height) + content[24:29]
        return content[:12] + chunk + struct.pack(">I", zlib.crc32(chunk)) + content[33:]
    if content.startswith(b"GIF8"):
        return content[:6] + struct.pack("<HH", width, height) + content[10:]
    if content.startswith(b"BM"):
        sign = random.choice((1, -1))
        return content[:18] + struct.pack("<ii", width, sign * height) + content[26:]
    place = re.search(rb"\xff[\xc0\xc2]....", content, re.DOTALL)
    if content.startswith(b"\xff\xd8") and place:
        start = place.start() + 5
        return content[:start] + struct.pack(">HH", height, width) + content[start + 4 :]
    return content
