"""`--overfit_batches`: trains on the first batches again and again, and evaluates on them, too.

A model that cannot reach a loss near zero on a few batches has a mistake in its loss, its labels or
its update. A full training would only show the mistake after hours.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from tf_frame.config.run_options import RunOptions
from tf_frame.errors import DataError
from tf_frame.plugin import InputContext, Mode
from tf_frame.plugin.origin import describe_method


def first_batches(source: Any, config: RunOptions) -> Any:
    """Returns the input, with `--overfit_batches` limited to its first training batches."""
    return _FirstBatches(source, config) if config.overfit_batches else source


@dataclasses.dataclass(frozen=True)
class _FirstBatches:
    """The first training batches of an input, shuffled and augmented once."""

    source: Any
    config: RunOptions

    @property
    def origin(self) -> str:
        """The name of the input in messages."""
        return getattr(self.source, "origin", None) or describe_method(self.source, "dataset")

    def dataset(self, mode: Mode, context: InputContext) -> Any:
        """Returns the batches: endless for training, else once; see `Input.dataset`.

        Raises:
          DataError: the input returned a queue: its batches cannot be cached.
        """
        # Evaluation must see the examples of training, so its batches have the size of training.
        context = dataclasses.replace(
            context,
            batch_size=self.config.clone_batch_size,
            train_batch_size=self.config.train_batch_size,
        )
        returned = self.source.dataset(Mode.TRAIN, context)
        several = isinstance(returned, (list, tuple))
        parts = [self._cached(part, mode) for part in (returned if several else [returned])]
        return parts if several else parts[0]

    def _cached(self, part: Any, mode: Mode) -> Any:
        if not hasattr(part, "cache"):
            raise DataError(
                f"--overfit_batches needs an input of tf.data; {self.origin} returned a function: "
                "its batches cannot be cached"
            )
        batches = part.take(self.config.overfit_batches * self.config.num_clones).cache()
        return batches.repeat() if mode == Mode.TRAIN else batches
