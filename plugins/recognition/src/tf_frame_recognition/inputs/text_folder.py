"""The input `text_folder`: images of words, and a file with their texts; see `label_file`."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from tf_frame import option
from tf_frame.errors import DataError
from tf_frame.text import short
from tf_frame_recognition.inputs.label_file import LINE, read_label_file
from tf_frame_recognition.inputs.text_examples import TextExampleOptions, TextExamples
from tf_frame_vision.data_content import SplitContent
from tf_frame_vision.example_input import Split, nothing_held_out
from tf_frame_vision.reading.damage import Damage, check_damage
from tf_frame_vision.reading.folders import (
    HeldOutOptions,
    divide_names,
    existing_folder,
    name_some,
    visible,
)
from tf_frame_vision.reading.headers import scan_headers
from tf_frame_vision.reading.scan import MISSING, Problem
from tf_frame_vision.reading.splits import (
    LAYOUTS,
    Splits,
    check_held_out,
    check_one_choice,
    find_splits,
)

_WHAT_TO_DO = "Give --input.data_dir the folder with the images and labels.txt"


@dataclasses.dataclass(frozen=True)
class Params(HeldOutOptions, TextExampleOptions):
    """Options of the input."""

    data_dir: str = option("", "folder with the images and the labels; must be given")
    train_labels: str = option("labels.txt", "file of labels to train on, in data_dir")
    eval_labels: str = option(
        "", "file of labels to evaluate on, in data_dir; empty: see eval_fraction"
    )
    text_from: str = option(
        LINE,
        "line: the text stands behind the file; name: between the first two _ of the file's name, "
        "as MJSynth has it",
        choices=(LINE, "name"),
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
        trained, evaluated = (
            {name: text for name, text in texts.items() if name in part}
            for part in divide_names(list(texts), params.eval_fraction)
        )
        evaluation = nothing_held_out(params, training, ", or give --input.eval_labels")
        if evaluated:
            evaluation = _split(root, evaluated)
        self.use(_split(root, trained, damaged), evaluation)

    def _read_texts(self, folder: Path, path: Path) -> tuple[Path, dict[str, str], list[Damage]]:
        """Reads a file of labels, and leaves out the lines that cannot be used.

        Returns:
          The folder that names begin at, the text of each file, and a line for each problem.
        """
        base = os.path.relpath(path.parent, folder)
        # A file of labels elsewhere is the user's choice: its own folder has the images.
        root, base = (path.parent, ".") if base.split("/")[0] == ".." else (folder, base)
        if not path.is_file():
            names = visible(path.parent, folders=False) if path.parent.is_dir() else []
            beside = f", but {name_some(names)}" if names else ""
            raise DataError(
                f"there is no file {short(path)}{beside}. {_WHAT_TO_DO}, or name "
                "the file of labels: --input.train_labels, --input.eval_labels; or give a folder "
                f"with files or folders of the parts: {LAYOUTS}"
            )
        texts, lines = read_label_file(root, base, path, self.params)
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
        fields = {"text": arrays.Texts(list(texts.values()))}
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
