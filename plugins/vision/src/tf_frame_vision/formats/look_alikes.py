"""Recognises the format of a folder that was given to the input of another format.

with naming_look_alikes(folder, INPUTS, own=("voc",)):
    ...   # An error gets a further sentence: `a.txt is YOLO-OBB: --input yolo`.
"""

from __future__ import annotations

import contextlib
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from tf_frame.errors import ConfigError, DataError
from tf_frame.visible_files import walk_files

BOXES, OBB, SEGMENTS = "YOLO's boxes", "YOLO-OBB", "YOLO-seg"
LABELME, COCO, VOC, DOTA = "labelme's JSON", "COCO's JSON", "PASCAL VOC's XML", "DOTA's text files"
MASKS = "a mask of classes"
YOLO = (BOXES, OBB, SEGMENTS)
# Files of a folder that are looked at, files of each ending that are opened, and bytes of each.
_FILES, _OPENED, _BYTES = 5000, 5, 1 << 16
# Label Studio's notes.json for YOLO has categories alone.
_COCO_KEY = re.compile(r'"(annotations|images)"\s*:\s*\[')
_SHAPES_KEY = re.compile(r'"shapes"\s*:\s*\[')
_VOC_TAGS = re.compile(r"<annotation\b"), re.compile(r"<object\b")
_DOTA_HEADERS = ("imagesource:", "gsd:")
_MASK_FOLDERS, _MASK_ENDING = {"masks", "SegmentationClass"}, "_mask.png"
_PHOTOGRAPHS = (".jpg", ".jpeg", ".JPG")


@contextlib.contextmanager
def naming_look_alikes(
    folder: str, inputs: Mapping[str, str], own: Sequence[str]
) -> Iterator[None]:
    """Adds the format of the folder to an error in the block, if the folder has another format.

    Args:
      folder: the data folder.
      inputs: format -> options that choose its input, such as `--input yolo`.
      own: formats of the input that reads its data in the block.
    """
    try:
        yield
    except (ConfigError, DataError) as error:
        sentence = _sentence(folder, inputs, own)
        if not sentence or sentence.rpartition(": ")[2] in str(error):
            raise
        raise type(error)(f"{str(error).rstrip('.')}. {sentence}") from None


def _sentence(folder: str, inputs: Mapping[str, str], own: Sequence[str]) -> str:
    formats = recognise(Path(folder).expanduser()) if folder else {}
    if not any(format_ in own for format_ in formats):
        for format_, path in formats.items():
            if format_ in inputs:
                return f"{path} is {format_}: {inputs[format_]}"
    return ""


def recognise(folder: Path) -> dict[str, Path]:
    """Returns the formats of annotations in a folder, and a file of each."""
    formats: dict[str, Path] = {}
    opened = dict.fromkeys((".txt", ".json", ".xml"), 0)
    try:
        for name in itertools.islice(walk_files(str(folder)), _FILES):
            path = Path(name)
            ending = path.suffix.lower()
            if ending == ".png" and _is_mask(path, folder):
                formats.setdefault(MASKS, path)
            if opened.get(ending, _OPENED) < _OPENED:
                format_ = _format(path, ending)
                # Files such as README.txt do not count.
                opened[ending] += bool(format_)
                if format_:
                    formats.setdefault(format_, path)
    except OSError:
        return formats  # The input itself says that the folder cannot be read.
    return formats


def _is_mask(path: Path, folder: Path) -> bool:
    """Returns whether a PNG has the name of a mask, or is next to a photograph of its name."""
    folders = path.relative_to(folder).parts[:-1]
    if path.name.endswith(_MASK_ENDING) or not _MASK_FOLDERS.isdisjoint(folders):
        return True
    return any(path.with_suffix(ending).exists() for ending in _PHOTOGRAPHS)


def _format(path: Path, ending: str) -> str:
    """Returns the format of a file; empty if it has none of those."""
    with path.open("rb") as file:
        text = file.read(_BYTES).decode("utf-8", "replace")
    if ending == ".xml":
        first = _VOC_TAGS[0].search(text)
        return VOC if first and _VOC_TAGS[1].search(text, first.end()) else ""
    if ending == ".json":
        if _SHAPES_KEY.search(text):
            return LABELME
        return COCO if _COCO_KEY.search(text) or _COCO_KEY.search(_end(path)) else ""
    lines = [line for line in re.split(r"[\r\n]+", text) if line.strip()]
    return _format_of_line(lines[0]) if lines else ""


def _end(path: Path) -> str:
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - _BYTES))
        return file.read().decode("utf-8", "replace")


def _format_of_line(line: str) -> str:
    if line.lower().startswith(_DOTA_HEADERS):
        return DOTA
    words = line.split()
    numbers = _leading_numbers(words)
    if len(words) in (9, 10) and len(numbers) == 8:
        return DOTA
    if len(words) < 5 or len(numbers) < len(words) or not numbers[0].is_integer():
        return ""
    if any(not -1 <= value <= 2 for value in numbers[1:]):
        return ""
    # A confidence may follow.
    return {4: BOXES, 8: OBB}.get((len(words) - 1) // 2 * 2, SEGMENTS)


def _leading_numbers(words: Sequence[str]) -> list[float]:
    """Returns the numbers before the first word that is none."""
    numbers: list[float] = []
    with contextlib.suppress(ValueError):
        for word in words:
            numbers.append(float(word))
    return numbers
