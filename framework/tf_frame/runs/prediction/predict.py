"""Predicts on files, or on the evaluation split, and writes each prediction (`tf-frame predict`).

Predictions before a stop, a full disk or a broken file are kept; the error names the broken file.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import itertools
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from tf_frame.config.run_options import RunOptions
from tf_frame.errors import DataError, NoDataError, PluginError, short_reason
from tf_frame.plugin import InputContext, Mode
from tf_frame.plugin.origin import describe_method, empty_split_error
from tf_frame.runs.error_translation import translated_errors
from tf_frame.runs.prediction.file_names import OutputNames
from tf_frame.runs.prediction.predictions import predictions
from tf_frame.runs.prediction.row_files import FORMATS, translated_output_errors
from tf_frame.runs.setup.run_context import RunObserver
from tf_frame.runs.setup.training_setup import TrainingSetup
from tf_frame.text import brief, short, short_repr

_NAME = "name"
_Write = Callable[[str, Any, Any], Sequence[str] | None]


class Predicted(NamedTuple):
    """An example whose prediction is written.

    Attributes:
      name: the name of the example: the path of its file, or its number.
      lines: what the writer of the model says of the prediction; empty: nothing.
    """

    name: str
    lines: Sequence[str]


def predict_run(
    setup: TrainingSetup,
    source: Any,
    observer: RunObserver,
    *,
    output: str,
    checkpoint: str,
    files: Sequence[str] = (),
    row_format: str | None = None,
    num_described: int = 0,
) -> Iterator[Predicted]:
    """Predicts with a checkpoint of a run and writes every prediction.

    Args:
      setup, source: the run, and its input, constructed.
      observer: takes reports, and may stop the prediction.
      output: the folder to write to; it exists.
      checkpoint: path prefix of the checkpoint.
      files: the files to predict on; empty for the evaluation split.
      row_format: a key of `FORMATS`; None for the model's own files or, without any, rows.
      num_described: so many examples, the first ones, get lines that describe their predictions.

    Returns:
      An iterator that predicts; it yields each example after writing its prediction.

    Raises:
      DataError: a file, which the message names, cannot be read, or there is no data.
      Interrupted: a signal stopped the prediction.
      TfFrameError: the disk is full.
    """
    prediction = _Prediction(
        model=setup.make_model(source.info),
        source=source,
        config=setup.config,
        observer=observer,
        checkpoint=checkpoint,
        output=output,
        files=files,
        num_described=num_described,
        names=[],
    )
    return prediction.run(row_format)


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Prediction:
    """A prediction in progress; see `predict_run`.

    Attributes:
      names: names of the examples that are written.
    """

    model: Any
    source: Any
    config: RunOptions
    observer: RunObserver
    checkpoint: str
    output: str
    files: Sequence[str]
    num_described: int
    names: list[str]

    def run(self, row_format: str | None) -> Iterator[Predicted]:
        with self._writer(row_format) as writer:
            # Rows contain the name as the user gave it; files need names that are unique.
            write: _Write = writer
            if not isinstance(writer, tuple(FORMATS.values())):
                write = functools.partial(self._write_files, writer, OutputNames(self.files))
            keys = getattr(writer, "predict_keys", None)
            try:
                yield from self._predict(write, keys, self.files, self.config)
            except DataError as error:
                if error.__cause__ is None or not self._one_example_each():
                    raise
                yield from self._predict_singly(write, keys)
        if not self.names and self.files:
            how = getattr(self.source.params, "skip_corrupt", False)
            why = "; --input.skip_corrupt=false says why" if how else ""
            raise NoDataError(f"not one of {len(self.files)} files gave an example{why}")
        if not self.names:
            raise empty_split_error("evaluation split", self.source)

    def _write_files(
        self, writer: Any, unique_name: OutputNames, name: str, *arrays: Any
    ) -> Sequence[str]:
        """Writes the files of an example, and returns the lines that describe it."""
        file_name = unique_name(name)
        writer(file_name, *arrays)
        describe = getattr(writer, "describe", None)
        if describe is None or len(self.names) >= self.num_described:
            return ()
        return [*describe(file_name, *arrays)]

    @contextlib.contextmanager
    def _writer(self, row_format: str | None) -> Iterator[Any]:
        """Yields the writer of the model, or of rows, and closes it at the end."""
        has_writer = hasattr(self.model, "prediction_writer") and not row_format
        with translated_output_errors(self.output, len(self.names)):
            writer = self.model.prediction_writer(self.output) if has_writer else None
        if writer is None:
            info = getattr(self.model, "info", None)
            names = getattr(info, "class_names", ())
            writer = FORMATS[row_format or "jsonl"](self.output, names)
        try:
            yield writer
        finally:
            with translated_output_errors(self.output, len(self.names)):
                getattr(writer, "close", lambda: None)()

    def _one_example_each(self) -> bool:
        """Returns whether each file so far gave one example, and files are left."""
        done = len(self.names)
        return done < len(self.files) and self.names == list(self.files[:done])

    def _predict_singly(self, write: _Write, keys: Any) -> Iterator[Predicted]:
        """Continues with batches of one, to find the file that cannot be read."""
        config = dataclasses.replace(self.config, eval_batch_size=1)
        try:
            yield from self._predict(write, keys, self.files[len(self.names) :], config)
        except DataError as error:
            file = self.files[len(self.names)]
            # Inputs may name the file, too.
            reason = short_reason(error.__cause__ or error).removeprefix(f"{file}: ")
            raise DataError(f"{short(file)} cannot be read: {reason}") from error

    def _predict(
        self, write: _Write, keys: Any, files: Sequence[str], config: RunOptions
    ) -> Iterator[Predicted]:
        examples = predictions(
            model=self.model,
            source=_source(self.source, files),
            config=config,
            checkpoint=self.checkpoint,
            predict_keys=keys,
            check=self._check,
            with_features=True,
            must_end=self.config.eval_steps is None,
        )
        if not self.files and config.eval_steps is not None:
            examples = itertools.islice(examples, config.eval_steps * config.eval_batch_size)
        with translated_errors(self.output, self.source):
            for features, prediction in examples:
                name = f"{len(self.names):06d}"
                if isinstance(features, Mapping) and _NAME in features:
                    name = os.fsdecode(features[_NAME])
                with translated_output_errors(self.output, len(self.names)):
                    lines = write(name, features, prediction) or ()
                self.names.append(name)
                yield Predicted(name, lines)

    def _check(self) -> None:
        count = len(self.names)
        predictions = "1 prediction" if count == 1 else f"{count} predictions"
        message = f"stopped after {predictions}, written to {self.output}"
        self.observer.interrupts.raise_if_received(message)


@dataclasses.dataclass(frozen=True)
class _Source:
    """An input with a data set to predict on; `origin` names the data set in messages."""

    source: Any
    origin: str
    make: Callable[[InputContext], Any]

    def dataset(self, mode: Mode, context: InputContext) -> Any:
        """Returns the data to predict on."""
        return self.make(context)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.source, name)


def _source(source: Any, files: Sequence[str]) -> Any:
    """Returns an input of the files or, without any, of the evaluation split."""
    if not files:
        origin = describe_method(source, "dataset")
        return _Source(source, origin, lambda context: source.dataset(Mode.EVAL, context))
    origin = describe_method(source, "prediction_dataset")

    def make(context: InputContext) -> Any:
        dataset = source.prediction_dataset(files, context)
        spec = getattr(dataset, "element_spec", None)
        features = spec[0] if isinstance(spec, tuple) and spec else spec
        if isinstance(features, Mapping) and _NAME in features:
            return dataset
        result = f"returned {short_repr(dataset)}" if spec is None else f"yields {spec}"
        raise PluginError(
            f"{origin} must return a tf.data.Dataset of features, a dict with {brief(_NAME)}, "
            f"the path of each example; it {result}"
        )

    return _Source(source, origin, make)
