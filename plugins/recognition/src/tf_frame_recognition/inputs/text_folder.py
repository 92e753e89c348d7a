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
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, ClassVar

from tf_frame import option
from tf_frame.errors import DataError
from tf_frame.text_file import BLANKS, existing_form, read_lines
from tf_frame_recognition.inputs.text_examples import TextExampleOptions, TextExamples
from tf_frame_vision.data_content import SplitContent
from tf_frame_vision.example_input import Split, absent_split
from tf_frame_vision.reading.damage import Damage, check_damage
from tf_frame_vision.reading.folders import (
    HeldOutOptions,
    existing_folder,
    held_out,
    name_some,
    visible,
)
from tf_frame_vision.reading.headers import scan_headers
from tf_frame_vision.reading.inside import name_inside
from tf_frame_vision.reading.scan import MISSING, Problem
from tf_frame_vision.reading.splits import (
    LAYOUTS,
    Splits,
    check_held_out,
    check_one_choice,
    find_splits,
)

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
        check_one_choice(params, "eval_labels")
        folder = existing_folder(params.data_dir, "--input.data_dir", _WHAT_TO_DO)
        self.parts = _find_parts(folder, params)
        training = self.parts.train or folder / params.train_labels
        root, texts, damaged = self._read_texts(folder, training)
        if self.parts.eval is not None:
            eval_root, evaluated, eval_damaged = self._read_texts(folder, self.parts.eval)
            self.use(_split(root, texts, damaged), _split(eval_root, evaluated, eval_damaged))
            return
        names = held_out(list(texts), params.eval_fraction)
        evaluated = {name: text for name, text in texts.items() if name in names}
        trained = {name: text for name, text in texts.items() if name not in names}
        self.use(
            _split(root, trained, damaged),
            _split(root, evaluated)
            if evaluated
            else absent_split(
                f"--input.eval_fraction {params.eval_fraction} of {training} "
                "leaves nothing to evaluate. Make it larger, or give --input.eval_labels"
            ),
        )

    def _read_texts(self, folder: Path, path: Path) -> tuple[Path, dict[str, str], list[Damage]]:
        """Reads a file of labels, and leaves out the lines that cannot be used.

        Returns:
          The folder that names begin at, the text of each file, and a line for each problem.
        """
        base = os.path.relpath(path.parent, folder)
        # A file of labels elsewhere is the user's choice: its own folder has the images.
        root, base = (path.parent, ".") if base.split("/")[0] == ".." else (folder, base)
        texts, lines = _read_labels(root, base, path, self.params)
        headers = scan_headers(root, list(texts), max_pixels=self.params.max_pixels)
        usable, damaged = dict[str, str](), []
        for number, header, (name, text) in zip(lines, headers, texts.items(), strict=True):
            clause = self.label_map.find_problem(text, self.params.max_length)
            reason = clause.replace(f"its text {text} ", "its text ", 1)
            if isinstance(header, Problem):
                clause = reason = header.reason
            if clause == MISSING:
                clause = f"there is no such file in {root}"
            if clause:
                damaged.append(Damage(f"{path}, line {number}: {name}", clause, reason))
            else:
                usable[name] = text
        check_damage(damaged, skip_corrupt=self.params.skip_corrupt)
        if not usable:
            raise DataError(f"{damaged[0]}; mend or remove it; no line can be used")
        return root, usable, damaged

    def content(self, split: Split) -> SplitContent:
        root, texts = split.content
        return self.text_content(
            list(texts.values()),
            root=Path(root),
            files=[os.path.join(root, name) for name in texts],
            labels=list(texts.values()),
        )

    def read(self, split: Split, order: Any) -> Any:
        from tf_frame_vision.reading import arrays
        from tf_frame_vision.reading.image_files import image_file_examples

        root, texts = split.content
        fields = {"text": arrays.strings(list(texts.values()))}
        return image_file_examples(root, list(texts), fields, order, self.params)


def _split(root: Path, texts: Mapping[str, str], damaged: Sequence[str] = ()) -> Split:
    return Split(len(texts), (str(root), texts), damaged)


def _find_parts(folder: Path, params: Params) -> Splits:
    """Returns the files of labels of the parts, by the options or by their names."""
    parts = Splits()
    if params.train_labels == Params.train_labels and not (folder / params.train_labels).exists():
        lists = find_splits(folder, eval_split=params.eval_split, ending=".txt")
        folders = find_splits(folder, eval_split=params.eval_split)
        parts = lists if lists.train else _with_labels(folders)
    if params.eval_labels:
        return dataclasses.replace(parts, eval=folder / params.eval_labels)
    if parts.train is None:
        check_held_out(folder, params.eval_split)
    return parts


def _with_labels(folders: Splits) -> Splits:
    """Returns the files of labels in the folders of the parts."""
    train, evaluation, test = (
        part and part / Params.train_labels for part in (folders.train, folders.eval, folders.test)
    )
    return Splits(train, evaluation, test, folders.unused)


def _read_labels(
    root: Path, base: str, path: Path, params: Params
) -> tuple[dict[str, str], list[int]]:
    """Reads a file of labels.

    Args:
      root: the data folder.
      base: the folder below it that the names in the file begin at.
      path: the file of labels.
      params: where the text is, and whether names may lead out of the folder.

    Returns:
      The text of each file, by its path below the data folder; and the number of its line.

    Raises:
      DataError: the file cannot be read, has no line, or names an image twice or out of the folder.
    """
    if not path.is_file():
        names = visible(path.parent, folders=False) if path.parent.is_dir() else []
        raise DataError(
            f"there is no file {path}, but {name_some(names)}. {_WHAT_TO_DO}, or name the file of "
            "labels: --input.train_labels, --input.eval_labels; or give a folder with files or "
            f"folders of the parts: {LAYOUTS}"
        )
    begin, texts, lines = root / base, dict[str, str](), list[int]()
    for number, line in enumerate(read_lines(path), 1):
        if not line.strip(BLANKS):
            continue
        name, text = _name_and_text(line, params.text_from)
        if name[0] in BLANKS and not os.path.exists(begin / name):
            name = name.lstrip(BLANKS)  # The line is indented.
        comma = _COMMA.fullmatch(name)
        if comma and params.text_from == _LINE and not os.path.exists(begin / name):
            raise DataError(
                f"{path}, line {number} is {line!r}, and a comma alone does not divide file and "
                f"text; write a tab instead, or quotes around the text: {comma['file']}, "
                f'"{comma["text"]}"'
            )
        name = name_inside(
            root,
            name,
            base=base,
            allow_outside=params.allow_outside,
            source=f"{path}, line {number}",
        )
        if not name.isascii():
            name = os.path.relpath(existing_form(root / name), root)
        if name in texts:
            raise DataError(f"{path}, line {number} has {name} again; give each file one text")
        texts[name] = text
        lines.append(number)
    if not texts:
        raise DataError(f"{path} has no line; it needs one such as: 1.jpg Hello")
    return texts, lines


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
        _, _, tail = PurePosixPath(name.replace("\\", "/")).stem.partition("_")
        text = tail.partition("_")[0]
    return name, text
