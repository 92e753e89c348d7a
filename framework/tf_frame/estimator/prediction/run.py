"""Predictions for files, or for an evaluation split, written one by one."""

from __future__ import annotations

import dataclasses
import itertools
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from tf_frame.config.run_options import RunOptions
from tf_frame.errors import DataError, PluginError, reason_of
from tf_frame.estimator.error_translation import translated_errors
from tf_frame.estimator.prediction.files import write_errors_explained
from tf_frame.estimator.prediction.predict import predictions
from tf_frame.graph.messages import seen
from tf_frame.plugin import InputContext, Mode

NAME = "name"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Prediction:
    """What is predicted, with what, and where it goes.

    Attributes:
      model, source: the plugins, constructed.
      config: the run options; `eval_batch_size` counts.
      checkpoint: path prefix.
      files: what to predict on; empty: the evaluation split of `source`.
      directory: where it goes, for messages.
      write: takes name, features and prediction of an example.
      predict_keys: names of the predictions that `write` needs; None: all.
      check: called before each batch; may raise to stop.
      written: called after each example.
    """

    model: Any
    source: Any
    config: RunOptions
    checkpoint: str
    directory: str
    write: Callable[[str, Any, Any], None]
    files: Sequence[str] = ()
    predict_keys: Sequence[str] | None = None
    check: Callable[[], None] = lambda: None
    written: Callable[[], None] = lambda: None

    def run(self) -> Sequence[str]:
        """Predicts everything.

        Returns:
          The names of the examples, in order.

        Raises:
          DataError: a file cannot be read, which the message names, or there is no data.
          TfFrameError: the disk is full.
        """
        names: list[str] = []
        try:
            self._predict(names, self.files, self.config)
        except DataError as error:
            if error.__cause__ is None or not _one_each(names, self.files):
                raise
            self._predict_singly(names)
        if not names:
            raise DataError("there is no data to predict on: the input yields not one example")
        return names

    def _predict_singly(self, names: list[str]) -> None:
        """Goes on after a file that could not be read, to find out which one it is."""
        config = dataclasses.replace(self.config, eval_batch_size=1)
        try:
            self._predict(names, self.files[len(names) :], config)
        except DataError as error:
            reason = reason_of(error.__cause__ or error)
            raise DataError(f"{self.files[len(names)]} cannot be read: {reason}") from error

    def _predict(self, names: list[str], files: Sequence[str], config: RunOptions) -> None:
        source = _Files(self.source, files) if files else _EvaluationSplit(self.source)
        examples = predictions(
            model=self.model,
            source=source,
            config=config,
            checkpoint=self.checkpoint,
            predict_keys=self.predict_keys,
            check=self.check,
            with_features=True,
            must_end=self.config.eval_steps is None,
        )
        with translated_errors(self.directory):
            for name, features, prediction in self._named(self._limited(examples), len(names)):
                with write_errors_explained(self.directory):
                    self.write(name, features, prediction)
                names.append(name)
                self.written()

    def _limited(self, examples: Iterator[Any]) -> Iterator[Any]:
        """Those of `eval_steps` batches, for an evaluation split."""
        if self.files or self.config.eval_steps is None:
            return examples
        return itertools.islice(examples, self.config.eval_steps * self.config.eval_batch_size)

    def _named(self, examples: Iterator[Any], start: int) -> Iterator[tuple[str, Any, Any]]:
        for number, (features, prediction) in enumerate(examples, start):
            if isinstance(features, Mapping) and NAME in features:
                yield os.fsdecode(features[NAME]), features, prediction
            else:
                yield f"{number:06d}", features, prediction


def _one_each(names: Sequence[str], files: Sequence[str]) -> bool:
    """Whether each file so far gave one example."""
    return len(names) < len(files) and list(names) == list(files[: len(names)])


@dataclasses.dataclass(frozen=True)
class _Files:
    """An input that reads files for a prediction."""

    source: Any
    files: Sequence[str]

    @property
    def origin(self) -> str:
        """What messages call it."""
        return f"{type(self.source).__name__}.prediction_dataset()"

    def dataset(self, mode: Mode, context: InputContext) -> Any:
        """The data set of the files."""
        dataset = self.source.prediction_dataset(self.files, context)
        spec = getattr(dataset, "element_spec", None)
        features = spec[0] if isinstance(spec, tuple) and spec else spec
        if isinstance(features, Mapping) and NAME in features:
            return dataset
        told = f"returned {seen(dataset)}" if spec is None else f"yields {spec}"
        raise PluginError(
            f"{self.origin} must return a tf.data.Dataset of features, a dict with {NAME!r}, the "
            f"path of each example; it {told}"
        )


@dataclasses.dataclass(frozen=True)
class _EvaluationSplit:
    """An input whose evaluation split is predicted."""

    source: Any

    @property
    def origin(self) -> str:
        """What messages call it."""
        return f"{type(self.source).__name__}.dataset()"

    def dataset(self, mode: Mode, context: InputContext) -> Any:
        """The evaluation data."""
        return self.source.dataset(Mode.EVAL, context)
