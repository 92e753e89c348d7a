"""`tf-frame predict`: what a trained model says about files, or about its evaluation split."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from tqdm import tqdm

from tf_frame.cli import option_help
from tf_frame.cli.prediction_paths import OutputNames, check_output, files_of
from tf_frame.cli.quiet import without_chatter
from tf_frame.cli.screen import emphasised, reader_may_leave, report
from tf_frame.cli.training_setup import setup_of_folder
from tf_frame.config.option import Option
from tf_frame.errors import EXIT_OK, ConfigError
from tf_frame.estimator.prediction.files import Csv, JsonLines, write_errors_explained
from tf_frame.estimator.training.setup import TrainingSetup
from tf_frame.plugin import Input, Mode
from tf_frame.session.interrupts import Interrupts

_FORMATS = {"csv": Csv, "jsonl": JsonLines}
_OWN = [
    Option(
        "input",
        tuple[str, ...],
        (),
        "files and folders to predict on; none: the evaluation split of the run",
        verbatim=True,
    ),
    Option("output", str | None, None, "folder to write to"),
    Option("checkpoint", str | None, None, "which one; none: the newest in MODEL_DIR"),
    Option(
        "format",
        str | None,
        None,
        "a row for each example: csv or jsonl; none: the model's own files, or jsonl",
        choices=tuple(_FORMATS),
    ),
]
_USAGE = """usage: tf-frame predict MODEL_DIR --output DIR [--input PATH ...] [OPTIONS]

Predicts with the model that tf-frame run has trained in MODEL_DIR: on files and folders, or on
the evaluation split of the run. Any option of tf-frame run may follow, such as --eval_batch_size
or --eval_steps; the others are taken from MODEL_DIR/config.yaml."""


def main(argv: Sequence[str]) -> int:
    """Runs the sub-command and returns its exit code."""
    if any(word in ("-h", "--help") for word in argv):
        report(f"{_USAGE}\n\n{option_help.group_text('Options', _OWN, {})}")
        return EXIT_OK
    setup, given = setup_of_folder("predict", _one_path_each(argv), _OWN)
    if not given["output"]:
        raise ConfigError("say where to write the predictions: --output DIR")
    source = setup.make_input()
    files = _files(setup, source, given["input"])
    output = os.path.expanduser(given["output"])
    check_output(output, files)
    with reader_may_leave(), Interrupts().installed() as interrupts:
        _predict(setup, source, files, output, given, interrupts)
    return EXIT_OK


def _one_path_each(argv: Sequence[str]) -> list[str]:
    """Lets several paths follow one `--input`, as a shell makes them of `*.png`."""
    found: list[str] = []
    follows_input = False
    for word in argv:
        follows = not word.startswith("-") and follows_input
        if follows and found[-1] != "--input":
            found.append("--input")
        follows_input = follows or word == "--input"
        found.append(word)
    return found


def _files(setup: TrainingSetup, source: Any, paths: Sequence[str]) -> list[str]:
    if not paths:
        return []
    own = getattr(type(source), "prediction_dataset", None)
    if own is None or own is getattr(Input, "prediction_dataset", None):
        assert setup.input is not None
        raise ConfigError(
            f"the input {setup.input.name} of {setup.input.plugin.info.distribution} cannot read "
            "files to predict on, for it has no prediction_dataset(); leave --input out to "
            "predict its evaluation split"
        )
    return files_of(paths, getattr(source, "prediction_suffixes", ()))


def _predict(
    setup: TrainingSetup,
    source: Any,
    files: Sequence[str],
    output: str,
    given: dict[str, Any],
    interrupts: Interrupts,
) -> None:
    with without_chatter(setup.config.verbosity):
        # Importing TensorFlow takes seconds.
        from tf_frame.checkpoint.find.path import resolve
        from tf_frame.estimator.prediction.run import Prediction
    interrupts.raise_if_received("stopped; nothing was predicted")
    checkpoint = resolve(os.path.expanduser(given["checkpoint"] or setup.model_dir))
    model = setup.make_model(source.info)
    report(f"predicting with {checkpoint}")
    started = time.monotonic()
    with (
        _Progress(len(files) or _evaluated(setup, source)) as progress,
        _writer(model, output, given["format"]) as writer,
    ):
        names = Prediction(
            model=model,
            source=source,
            config=setup.config,
            checkpoint=checkpoint,
            files=files,
            directory=output,
            write=_distinctly_named(writer, files),
            predict_keys=getattr(writer, "predict_keys", None),
            check=lambda: interrupts.raise_if_received(
                f"stopped after {_counted(progress.count)}, written to {output}"
            ),
            written=progress.advance,
        ).run()
    report(_closing(len(names), time.monotonic() - started, output))
    _say_what_is_missing(files, names)


def _evaluated(setup: TrainingSetup, source: Any) -> int | None:
    """How many examples of the evaluation split are predicted, as far as that is known."""
    total: int | None = source.info.num_examples.get(Mode.EVAL)
    if total is None or setup.config.eval_steps is None:
        return total
    return min(total, setup.config.eval_steps * setup.config.eval_batch_size)


@contextmanager
def _writer(model: Any, output: str, row_format: str | None) -> Iterator[Any]:
    """What writes one example: of the model, or rows; closed at the end."""
    make = getattr(model, "prediction_writer", None)
    with write_errors_explained(output):
        writer = make(output) if make and not row_format else None
    if writer is None:
        writer = _FORMATS[row_format or "jsonl"](output)
    try:
        yield writer
    finally:
        with write_errors_explained(output):
            getattr(writer, "close", lambda: None)()


def _distinctly_named(writer: Any, files: Sequence[str]) -> Callable[[str, Any, Any], None]:
    """Rows name an example as the user does; files need names of their own."""
    if isinstance(writer, (Csv, JsonLines)):
        return writer
    name_of = OutputNames(files)
    return lambda name, features, prediction: writer(name_of(name), features, prediction)


class _Progress:
    """Counts examples, and shows a bar on a terminal.

    Args:
      total: how many there will be, if that is known.
    """

    def __init__(self, total: int | None) -> None:
        self.count = 0
        self._bar = tqdm(
            total=total,
            file=sys.stdout,
            disable=not sys.stdout.isatty(),
            unit="example",
            dynamic_ncols=True,
            desc="predict",
        )

    def advance(self) -> None:
        """Notes that an example is written."""
        self.count += 1
        self._bar.update()

    def __enter__(self) -> _Progress:
        return self

    def __exit__(self, *failure: object) -> None:
        self._bar.close()


def _closing(count: int, secs: float, output: str) -> str:
    rate = f"{count / secs:.1f} a second"
    return f"{_counted(count)} in {secs:.1f} s, {rate}; written to {emphasised(output)}"


def _counted(count: int) -> str:
    return "1 prediction" if count == 1 else f"{count} predictions"


def _say_what_is_missing(files: Sequence[str], names: Sequence[str]) -> None:
    """Where examples are called as their files, a file without an example is worth a line."""
    missing = set(files) - set(names)
    if missing and set(names) <= set(files):
        first = next(file for file in files if file in missing)
        report(f"note: {len(missing)} of {len(files)} files gave no example, such as {first}")
