"""`DataSheetHook`: writes a picture of the first training examples, with their labels.

    MODEL_DIR/data/train.png

The batches of the first steps are fetched together with these steps, so that the position in the
input stays as it is. Pictures are drawn and written in the background.
"""

from __future__ import annotations

import dataclasses
import logging
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

from tf_frame.atomic_output import write_file
from tf_frame.errors import short_reason
from tf_frame.hooks.background_writer import wait_for_background_writer, write_in_background
from tf_frame.hooks.base import Hook, Phase
from tf_frame.hooks.cadence import Cadence
from tf_frame.picture_sheet import Picture, encode_png, lay_out

_LOG = logging.getLogger("tf_frame")
SHEET_FILE = os.path.join("data", "train.png")
_EXAMPLES = 16
_TAG = "data/train"

# From the features and labels of a batch, arrays, to pictures.
Draw = Callable[[Any, Any], Sequence[Picture]]


@dataclasses.dataclass(eq=False)
class DataSheetHook(Hook):
    """Writes `data/train.png` from the first 16 training examples, and a summary of step 0.

    Args:
      model_dir: the folder of the run.
      batches: features and labels of each clone, tensors.
      draw: makes pictures of a batch.
      examples_per_step: examples of all batches.
      writer: the writer of events.
      companions: tensors that another hook fetches at the first step together with `fetches`.
        TensorFlow prepares the graph for each new set of fetches, which takes a second for a
        large graph, so that this hook fetches the same set.
      report: takes a warning if the picture cannot be drawn or written.

    Attributes:
      fetches: the tensors of the examples.
    """

    phase = Phase.OBSERVE

    model_dir: str
    _: dataclasses.KW_ONLY
    batches: Sequence[Any]
    draw: Draw
    examples_per_step: int
    writer: Any
    companions: Sequence[Any] = ()
    report: Callable[[str], None] = _LOG.warning

    def __post_init__(self) -> None:
        steps = -(-_EXAMPLES // max(self.examples_per_step, 1))
        super().__init__(Cadence(at_steps=range(1, steps + 1)))
        self._last_step = steps
        self._taken: list[Any] = []
        self._parts = [part for batch in self.batches for part in _dense_parts(batch)]
        with tf.device("/device:CPU:0"), tf.name_scope("data_sheet"):
            self.fetches = [part[:_EXAMPLES] if part.shape.rank else part for part in self._parts]

    def before_step(self, run_context: Any, step: int) -> Any:
        return tf.train.SessionRunArgs([self.fetches, list(self.companions)])

    def after_step(self, run_context: Any, run_values: Any, step: int) -> None:
        values = dict(zip(map(id, self._parts), run_values.results[0], strict=True))
        self._taken += [_with_values(batch, values) for batch in self.batches]
        if step >= self._last_step:
            self._write_taken()

    def after_last_step(self, step: int) -> None:
        self._write_taken()

    def close(self) -> None:
        wait_for_background_writer()

    def _write_taken(self) -> None:
        batches, self._taken = self._taken, []
        if batches:
            write_in_background(self._write, batches)

    def _write(self, batches: Sequence[Any]) -> None:
        """Draws and writes; a picture for people never ends a training."""
        try:
            pictures = [picture for batch in batches for picture in self.draw(*batch)]
            if not pictures:
                return
            sheet = lay_out(pictures[:_EXAMPLES])
            path = os.path.join(self.model_dir, SHEET_FILE)
            tf.io.gfile.makedirs(os.path.dirname(path))
            content = encode_png(sheet)
            write_file(path, content)
            self.writer.add_summary(_summary(sheet, content), 0)
        except Exception as error:  # The drawing is code of a plugin, which may raise anything.
            self.report(f"warning: {SHEET_FILE} cannot be written: {short_reason(error)}")


def _dense_parts(batch: Any) -> list[Any]:
    """Returns the tensors of a batch, without sparse and ragged tensors."""
    if isinstance(batch, Mapping):
        return [tensor for part in batch.values() for tensor in _dense_parts(part)]
    if isinstance(batch, (list, tuple)):
        return [tensor for part in batch for tensor in _dense_parts(part)]
    return [batch] if isinstance(batch, tf.Tensor) else []


def _with_values(batch: Any, values: Mapping[int, Any]) -> Any:
    """Returns a batch with values instead of its tensors, and None for other parts."""
    if isinstance(batch, Mapping):
        return {name: _with_values(part, values) for name, part in batch.items()}
    if isinstance(batch, (list, tuple)):
        return [_with_values(part, values) for part in batch]
    return values.get(id(batch))


def _summary(sheet: Any, content: bytes) -> Any:
    height, width, channels = np.shape(sheet)
    image = tf.Summary.Image(
        height=height, width=width, colorspace=channels, encoded_image_string=content
    )
    return tf.Summary(value=[tf.Summary.Value(tag=_TAG, image=image)])
