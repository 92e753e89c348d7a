"""`tf-frame predict`: predictions of a trained model on files or on its evaluation split.

tf-frame writes the predictions as JSON Lines or CSV, or the model writes files of its own, such as
the class images of deeplab. What the model says of the first files is printed.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from tf_frame.cli.trained_input import (
    CLASSES,
    PUBLISHED,
    WEIGHTS,
    input_for_files,
    observed_run,
    parse_classes,
    with_weights,
)
from tf_frame.command_line import option_help
from tf_frame.command_line.folder_setup import setup_from_folder
from tf_frame.command_line.screen import emphasised, report, report_help
from tf_frame.config.option import Option
from tf_frame.errors import EXIT_OK, ConfigError, DataError
from tf_frame.plugin import Mode
from tf_frame.plugin.contracts import predicts_files
from tf_frame.progress_bar import ProgressBar
from tf_frame.runs.prediction.file_names import check_output, list_files
from tf_frame.runs.prediction.row_files import FORMATS
from tf_frame.runs.setup.training_setup import TrainingSetup
from tf_frame.shell_text import shell_word
from tf_frame.tensorflow_log import quiet_import
from tf_frame.text import short

if TYPE_CHECKING:
    from tf_frame.runs.prediction.predict import Predicted

_OUTPUT = "predictions"
# The screen shows the predictions of so many files.
_MOST_SHOWN = 20
# The time of fewer predictions is mainly that of the start.
_LEAST_FOR_RATE = 20
OPTIONS = [
    Option(
        "input",
        tuple[str, ...],
        (),
        "files and folders, with their sub-folders, to predict on; none: the evaluation split of "
        "the run",
        verbatim=True,
    ),
    Option("output", str, _OUTPUT, "folder to write to"),
    WEIGHTS,
    Option("checkpoint", str | None, None, "path of the checkpoint; none: the newest one"),
    Option(
        "format",
        str | None,
        None,
        "a row for each example: csv or jsonl; none: the model's own files, or jsonl",
        choices=tuple(FORMATS),
    ),
    *CLASSES,
]
_USAGE = f"""usage: tf-frame predict MODEL_DIR [--input PATH ...] [OPTIONS]
       tf-frame predict --weights NAME --input PATH ...

Predicts with the model that tf-frame run has trained in MODEL_DIR: on files and folders, or on
the evaluation split of the run; or with published weights. Prints what the model says of the
first {_MOST_SHOWN} files, unless --format asks for rows. Any option of tf-frame run may follow,
such as --eval_batch_size or --eval_steps; the others are taken from MODEL_DIR/config.yaml.

{PUBLISHED}none is kept."""


def main(argv: Sequence[str]) -> int:
    """Runs the sub-command and returns its exit code."""
    if any(word in ("-h", "--help") for word in argv):
        report_help(f"{_USAGE}\n\n{option_help.group_text('Options', OPTIONS, {})}")
        return EXIT_OK
    words = with_weights(_one_path_each(argv))
    setup, values = setup_from_folder("predict", words, OPTIONS)
    classes = parse_classes(setup, values["num_classes"], values["class_names"])
    source = input_for_files(setup, classes) if values["input"] else _with_data(setup)
    output = os.path.expanduser(values["output"])
    files = _files(setup, source, values["input"], output)
    check_output(output, files)
    if any(names for _, _, names in os.walk(output)):
        report(
            f"note: {short(output)} holds earlier files; those of the same names are replaced, the "
            "others stay"
        )
    keeps_folder = not setup.is_default_dir
    with observed_run(setup, source, keeps_folder=keeps_folder) as (setup, observer):
        with quiet_import(setup.config.verbosity):
            # Importing TensorFlow takes seconds.
            from tf_frame.checkpoint.find.path import resolve_checkpoint
            from tf_frame.runs.prediction.predict import predict_run
        started = time.monotonic()
        checkpoint = resolve_checkpoint(os.path.expanduser(values["checkpoint"] or setup.model_dir))
        if keeps_folder:
            report(f"predicting with {checkpoint}")
        predicted = predict_run(
            setup,
            source,
            observer,
            output=output,
            checkpoint=checkpoint,
            files=files,
            row_format=values["format"],
            num_described=_MOST_SHOWN if files else 0,
        )
        names = _show(predicted, len(files) or _num_evaluated(setup, source))
        report(_closing(len(names), time.monotonic() - started, output))
        _report_files_without_example(source, files, names)
    return EXIT_OK


def _one_path_each(argv: Sequence[str]) -> list[str]:
    """Repeats `--input` before each path: a shell expands `*.png` to several paths."""
    words: list[str] = []
    follows_input = False
    for word in argv:
        follows = not word.startswith("-") and follows_input
        if follows and words[-1] != "--input":
            words.append("--input")
        follows_input = follows or word == "--input"
        words.append(word)
    return words


def _with_data(setup: TrainingSetup) -> Any:
    """Constructs the input with its evaluation split."""
    try:
        return setup.make_input()
    except DataError as error:
        raise DataError(
            f"{error}\nwithout the data of the run there is no evaluation split to predict on; "
            "name files: --input PATH"
        ) from None


def _files(setup: TrainingSetup, source: Any, paths: Sequence[str], output: str) -> list[str]:
    if not paths:
        return []
    if not predicts_files(type(source)):
        assert setup.input is not None
        raise ConfigError(
            f"the input {setup.input.name} of {setup.input.plugin.info.distribution} cannot read "
            "files to predict on, as it has no prediction_dataset(); leave --input out to predict "
            "on its evaluation split"
        )
    return list_files(paths, getattr(source, "prediction_suffixes", ()), output=output)


def _num_evaluated(setup: TrainingSetup, source: Any) -> int | None:
    """Returns the number of examples of the evaluation split, limited by `eval_steps`, if known."""
    total: int | None = source.info.num_examples.get(Mode.EVAL)
    if total is None or setup.config.eval_steps is None:
        return total
    return min(total, setup.config.eval_steps * setup.config.eval_batch_size)


def _show(predicted: Iterator[Predicted], total: int | None) -> list[str]:
    """Prints the lines of the predictions below their names, and returns the names.

    A terminal shows a progress bar.
    """
    names, are_described = [], False
    bar = ProgressBar(predicted, total=total, unit="example", desc="predict")
    for name, lines in bar:
        names.append(name)
        if lines:
            are_described = True
            with bar.external_write_mode(file=sys.stdout):
                report("\n  ".join([emphasised(name), *lines]))
    if are_described and len(names) > _MOST_SHOWN:
        report(f"{len(names) - _MOST_SHOWN} more are not shown here")
    return names


def _closing(count: int, secs: float, output: str) -> str:
    done = "1 prediction" if count == 1 else f"{count} predictions"
    rate = f", {count / secs:.1f} a second" if count >= _LEAST_FOR_RATE else ""
    return f"{done} in {secs:.1f} s{rate}; written to {emphasised(output)}"


def _report_files_without_example(source: Any, files: Sequence[str], names: Sequence[str]) -> None:
    """Reports files without an example, if examples are named by files."""
    missing = set(files) - set(names)
    if missing and set(names) <= set(files):
        first = next(file for file in files if file in missing)
        report(
            f"note: {len(missing)} of {len(files)} files gave no example, such as {first}"
            f"{_why_left_out(source, first)}"
        )


def _why_left_out(source: Any, file: str) -> str:
    """Returns the command that says why a file is left out, if the input may leave files out."""
    if not getattr(source.params, "skip_corrupt", False):
        return ""
    return f"; --input {shell_word(file)} --input.skip_corrupt=false says why"
