"""The input `text_folder`: images of words, and a file with their texts.

A line of the file of labels is one of

    photos/1.jpg Hello        the file, a tab or spaces, the text
    word_1.png, "Hello"       as the word recognition tasks of ICDAR have it
    ./3/1_Hello_34.jpg 34     as MJSynth has it, with --input.text_from name

Files are relative to the folder of the file of labels, which is UTF-8.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any, ClassVar

from tf_frame import option
from tf_frame.errors import DataError
from tf_frame_recognition.inputs.text_examples import TextExampleOptions, TextExamples
from tf_frame_vision.example_input import Split, absent_split
from tf_frame_vision.reading.folders import HeldOutOptions, existing_folder, held_out

_WHAT_TO_DO = "Give --input.data_dir the folder with the images and labels.txt"
# https://rrc.cvc.uab.es, challenge 2, task 3: a comma behind the file, and quotes around the text.
_ICDAR = re.compile(r'(?P<file>[^,\t"]+),\s*"(?P<text>.*)"')
_PLAIN = re.compile(r"(?P<file>[^\t]+)\t(?P<text>.*)|(?P<first>\S+)\s*(?P<remainder>.*)")


@dataclasses.dataclass(frozen=True)
class Params(HeldOutOptions, TextExampleOptions):
    """Options of the input."""

    data_dir: str = option("", "folder with the images and the labels; must be given")
    train_labels: str = option("labels.txt", "file of labels to train on, in data_dir")
    eval_labels: str = option("", "file of labels to evaluate on; empty: see eval_fraction")
    text_from: str = option(
        "line",
        "line: the text stands behind the file; name: between the first two _ of the file's name, "
        "as MJSynth has it",
        choices=("line", "name"),
    )


class TextFolder(TextExamples):
    """Images of words with a file of labels; the names alone choose the evaluation split."""

    Params: ClassVar[type] = Params

    def find(self) -> None:
        params = self.params
        folder = existing_folder(params.data_dir, "--input.data_dir", _WHAT_TO_DO)
        root, texts = self._read_texts(folder / params.train_labels)
        if params.eval_labels:
            eval_root, evaluated = self._read_texts(folder / params.eval_labels)
            self.use(_split(root, texts), _split(eval_root, evaluated))
            return
        names = held_out(list(texts), params.eval_fraction)
        evaluated = {name: text for name, text in texts.items() if name in names}
        self.use(
            _split(root, {name: text for name, text in texts.items() if name not in names}),
            _split(root, evaluated)
            if evaluated
            else absent_split(
                f"--input.eval_fraction {params.eval_fraction} of {folder / params.train_labels} "
                "leaves nothing to evaluate. Make it larger, or give --input.eval_labels"
            ),
        )

    def _read_texts(self, path: Path) -> tuple[Path, dict[str, str]]:
        root, texts = _read_labels(path, self.params.text_from)
        self.check_texts(str(path), texts)
        return root, texts

    def read(self, split: Split, order: Any) -> Any:
        from tf_frame_vision.reading import arrays
        from tf_frame_vision.reading.image_files import image_file_examples

        root, texts = split.content
        fields = {"text": arrays.strings(list(texts.values()))}
        return image_file_examples(root, list(texts), fields, order)


def _split(root: Path, texts: Mapping[str, str]) -> Split:
    return Split(len(texts), (str(root), texts))


def _read_labels(path: Path, text_from: str) -> tuple[Path, dict[str, str]]:
    """Reads a file of labels.

    Returns:
      The folder of the files, and the text of each.

    Raises:
      DataError: the file cannot be read, has no line, or names an image twice.
    """
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except OSError as error:
        raise DataError(
            f"{path} cannot be read: {error.strerror}. {_WHAT_TO_DO}, or name the file of labels: "
            "--input.train_labels, --input.eval_labels"
        ) from None
    except UnicodeDecodeError as error:
        raise DataError(f"{path} is not UTF-8: {error}") from None
    texts: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        name, text = _name_and_text(line.strip(), text_from)
        if name in texts:
            raise DataError(f"{path}, line {number} has {name} again; give each file one text")
        texts[name] = text
    if not texts:
        raise DataError(f"{path} has no line; it needs one such as: 1.jpg Hello")
    return path.parent, texts


def _name_and_text(line: str, text_from: str) -> tuple[str, str]:
    """Returns file and text of a line; the text may be empty."""
    icdar = _ICDAR.fullmatch(line)
    if icdar:
        name, text = icdar["file"], icdar["text"].replace('\\"', '"').replace("\\\\", "\\")
    else:
        match = _PLAIN.fullmatch(line)
        assert match, "a line that is not blank has a first word"
        name = match["file"] or match["first"]
        text = match["text"] or match["remainder"] or ""
    if text_from == "name":
        _, _, tail = PurePosixPath(name).stem.partition("_")
        text = tail.partition("_")[0]
    return name, text.strip()
