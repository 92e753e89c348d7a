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
from tf_frame.cli.folder import job_of_folder
from tf_frame.cli.prediction_paths import OutputNames, check_output, files_of
from tf_frame.cli.quiet import without_chatter
from tf_frame.cli.screen import emphasised, reader_may_leave, say
from tf_frame.config.option import Option
from tf_frame.errors import EXIT_OK, ConfigError
from tf_frame.estimator.job import Job
from tf_frame.estimator.prediction_files import Csv, JsonLines
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


def main(words: Sequence[str]) -> int:
    """Runs the sub-command and returns its exit code."""
    if not words or any(word in ("-h", "--help") for word in words):
        say(f"{_USAGE}\n\n{option_help.group_text('Options', _OWN, {})}")
        return EXIT_OK
    job, given = job_of_folder("predict", _one_path_each(words), _OWN)
    if not given["output"]:
        raise ConfigError("say where to write the predictions: --output DIR")
    source = job.make_input()
    files = _files(job, source, given["input"])
    output = os.path.expanduser(given["output"])
    check_output(output, files)
    with reader_may_leave(), Interrupts().installed() as interrupts:
        _predict(job, source, files, output, given, interrupts)
    return EXIT_OK


def _one_path_each(words: Sequence[str]) -> list[str]:
    """Lets several paths follow one `--input`, as a shell makes them of `*.png`."""
    found: list[str] = []
    follows_input = False
    for word in words:
        follows = not word.startswith("-") and follows_input
        if follows and found[-1] != "--input":
            found.append("--input")
        follows_input = follows or word == "--input"
        found.append(word)
    return found


def _files(job: Job, source: Any, paths: Sequence[str]) -> list[str]:
    if not paths:
        return []
    own = getattr(type(source), "prediction_dataset", None)
    if own is None or own is getattr(Input, "prediction_dataset", None):
        raise ConfigError(
            f"the input {job.input.name} of {job.input.plugin.found.distribution} cannot read "
            "files to predict on, for it has no prediction_dataset(); leave --input out to "
            "predict its evaluation split"
        )
    return files_of(paths, getattr(source, "prediction_suffixes", ()))


def _predict(
    job: Job,
    source: Any,
    files: Sequence[str],
    output: str,
    given: dict[str, Any],
    interrupts: Interrupts,
) -> None:
    with without_chatter(job.config.verbosity):
        # Importing TensorFlow takes seconds.
        from tf_frame.checkpoint.path import resolve
        from tf_frame.estimator.prediction_run import Prediction
    interrupts.raise_if_received("stopped; nothing was predicted")
    checkpoint = resolve(os.path.expanduser(given["checkpoint"] or job.model_dir))
    model = job.make_model(source.info)
    say(f"predicting with {checkpoint}")
    total = len(files) or source.info.num_examples.get(Mode.EVAL)
    started, count = time.monotonic(), 0

    def check() -> None:
        interrupts.raise_if_received(f"stopped; {count} predictions are written to {output}")

    with _writer(model, output, given["format"]) as writer, _progress(total) as advance:

        def written() -> None:
            nonlocal count
            count += 1
            advance()

        names = Prediction(
            model=model,
            source=source,
            config=job.config,
            checkpoint=checkpoint,
            files=files,
            directory=output,
            write=_distinctly_named(writer, files),
            predict_keys=getattr(writer, "predict_keys", None),
            check=check,
            written=written,
        ).run()
    say(_closing(len(names), time.monotonic() - started, output))
    _say_what_is_missing(files, names)


@contextmanager
def _writer(model: Any, output: str, row_format: str | None) -> Iterator[Any]:
    """What writes one example: of the model, or rows; closed at the end."""
    make = getattr(model, "prediction_writer", None)
    writer = make(output) if make and not row_format else None
    if writer is None:
        writer = _FORMATS[row_format or "jsonl"](output)
    try:
        yield writer
    finally:
        getattr(writer, "close", lambda: None)()


def _distinctly_named(writer: Any, files: Sequence[str]) -> Callable[[str, Any, Any], None]:
    """Rows name an example as the user does; files need names of their own."""
    if isinstance(writer, (Csv, JsonLines)):
        return writer
    name_of = OutputNames(files)
    return lambda name, features, prediction: writer(name_of(name), features, prediction)


@contextmanager
def _progress(total: int | None) -> Iterator[Callable[[], Any]]:
    """A bar on a terminal; yields what moves it on by one."""
    bar = tqdm(
        total=total,
        file=sys.stdout,
        disable=not sys.stdout.isatty(),
        unit="example",
        dynamic_ncols=True,
        desc="predict",
    )
    with bar:
        yield bar.update


def _closing(count: int, secs: float, output: str) -> str:
    what = "1 prediction" if count == 1 else f"{count} predictions"
    return f"{what} in {secs:.1f} s, {count / secs:.1f} a second; written to {emphasised(output)}"


def _say_what_is_missing(files: Sequence[str], names: Sequence[str]) -> None:
    """Where examples are called as their files, a file without an example is worth a line."""
    missing = set(files) - set(names)
    if missing and set(names) <= set(files):
        first = next(file for file in files if file in missing)
        say(f"note: {len(missing)} of {len(files)} files gave no example, such as {first}")
