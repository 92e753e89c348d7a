"""The input `text_folder`: images of words, and a file with their texts.

A line of the file of labels is one of

    photos/1.jpg Hello        the file, a tab or spaces, the text
    word_1.png, "Hello"       as the word recognition tasks of ICDAR have it
    ./3/1_Hello_34.jpg 34     as MJSynth has it, with --input.text_from name

Files are relative to the folder of the file of labels. Before a tab their names may have blanks;
blanks around a text are left out, unless the text stands in quotes.
"""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any, ClassVar

from tf_frame import option
from tf_frame.errors import DataError
from tf_frame.text_file import BLANKS, existing_form, read_lines
from tf_frame_recognition.inputs.text_examples import TextExampleOptions, TextExamples
from tf_frame_vision.example_input import Split, absent_split
from tf_frame_vision.reading.folders import HeldOutOptions, existing_folder, held_out

_LINE = "line"
_WHAT_TO_DO = "Give --input.data_dir the folder with the images and labels.txt"
# https://rrc.cvc.uab.es, challenge 2, task 3: a comma behind the file, and quotes around the text.
_ICDAR = re.compile(r'(?P<file>[^,\t"]+),[ \t]*"(?P<text>.*)"')
_ESCAPED = re.compile(r'\\(["\\])')
_PLAIN = re.compile(
    r"(?P<file> *[^ \t][^\t]*)\t(?P<text>.*)|(?P<first>[^ \t]+)[ \t]*(?P<remainder>.*)"
)
_COMMA = re.compile(r"(?P<file>[^,]+\.[A-Za-z]+),(?P<text>.*)")


@dataclasses.dataclass(frozen=True)
class Params(HeldOutOptions, TextExampleOptions):
    """Options of the input."""

    data_dir: str = option("", "folder with the images and the labels; must be given")
    train_labels: str = option("labels.txt", "file of labels to train on, in data_dir")
    eval_labels: str = option("", "file of labels to evaluate on; empty: see eval_fraction")
    text_from: str = option(
        _LINE,
        "line: the text stands behind the file; name: between the first two _ of the file's name, "
        "as MJSynth has it",
        choices=(_LINE, "name"),
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
    if not path.is_file():
        raise DataError(
            f"there is no file {path}. {_WHAT_TO_DO}, or name the file of labels: "
            "--input.train_labels, --input.eval_labels"
        )
    texts: dict[str, str] = {}
    for number, line in enumerate(read_lines(path), 1):
        if not line.strip(BLANKS):
            continue
        name, text = _name_and_text(line, text_from)
        if name[0] in BLANKS and not os.path.exists(path.parent / name):
            name = name.lstrip(BLANKS)  # The line is indented.
        if not name.isascii():
            name = os.path.relpath(existing_form(path.parent / name), path.parent)
        comma = _COMMA.fullmatch(name)
        if comma and text_from == _LINE and not os.path.exists(path.parent / name):
            raise DataError(
                f"{path}, line {number} is {line!r}, and a comma alone does not divide file and "
                f"text; write a tab instead, or quotes around the text: {comma['file']}, "
                f'"{comma["text"]}"'
            )
        if name in texts:
            raise DataError(f"{path}, line {number} has {name} again; give each file one text")
        texts[name] = text
    if not texts:
        raise DataError(f"{path} has no line; it needs one such as: 1.jpg Hello")
    return path.parent, texts


def _name_and_text(line: str, text_from: str) -> tuple[str, str]:
    """Returns file and text of a line; the text may be empty."""
    icdar = _ICDAR.fullmatch(line.strip(BLANKS))
    if icdar:
        name, text = icdar["file"], _ESCAPED.sub(r"\1", icdar["text"])
    else:
        match = _PLAIN.fullmatch(line) or _PLAIN.fullmatch(line.strip(BLANKS))
        assert match, "a line that is not blank has a first word"
        name = match["file"] or match["first"]
        text = (match["text"] or match["remainder"] or "").strip(BLANKS)
    if text_from != _LINE:
        _, _, tail = PurePosixPath(name).stem.partition("_")
        text = tail.partition("_")[0]
    return name, text
