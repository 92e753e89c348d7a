"""The input `digit_strings`: strings of 3 to 8 handwritten digits, composed while training.

The package brings the digits: 1,797 of 13 people, 8 x 8 pixels, of UCI's Optical Recognition of
Handwritten Digits (E. Alpaydin and C. Kaynak, 1998, CC BY 4.0, data/digits/LICENSE.txt). They are
in the order of collection: training strings are made of the first 1,437, evaluation strings of
the last 360, by other people except at the seam.
"""

from __future__ import annotations

import dataclasses
import gzip
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from tf_frame import DataReport, InputContext, Mode, option
from tf_frame.errors import ConfigError, DataError
from tf_frame_recognition.inputs.text_input import TextInput, TextOptions
from tf_frame_recognition.labels import DIGITS
from tf_frame_vision.data_content import SplitContent, make_report

LEAST, MOST = 3, 8
_FOLDER = Path(__file__).parents[1] / "data" / "digits"
_IMAGES, _LABELS = "images-idx3-ubyte.gz", "labels-idx1-ubyte.gz"
_TRAINING = (0, 1437)
_EVALUATION = (1437, 1797)
_EVALUATION_STRINGS = 500
# The evaluation strings are the same in every run.
_EVALUATION_SEED = 20
_LABEL_HEADER_BYTES = 8
_REMARK = "strings are made of these digits, training strings without end"


@dataclasses.dataclass(frozen=True)
class Params(TextOptions):
    """Options of the input."""

    characters: str = option(
        DIGITS, "label map: digits, or another that has all digits, for several inputs at once"
    )
    max_length: int = option(MOST, "the most digits of a string, up to 8; more is padding", min=1)
    bend: float = option(
        0.0, "amplitude of the sine along which a string is bent, as a share of its height", min=0.0
    )
    rotation: float = option(
        0.0, "the greatest turn of a string to either side, in degrees", min=0.0, max=90.0
    )


class DigitStrings(TextInput):
    """Dark handwritten digits on a lighter ground, of varied size, place, slant and contrast.

    A training string is a function of the seed and its number, and its digits are turned and have
    wider or narrower strokes; the 500 evaluation strings are always the same. Both are bent and
    turned as the options say.
    """

    Params: ClassVar[type] = Params
    thread_safe_build: ClassVar[bool] = True

    def find(self) -> None:
        """Checks that strings of digits are possible.

        Raises:
          ConfigError: `--input.max_length` is too small, or the label map has not all digits.
        """
        if self.params.max_length < LEAST:
            raise ConfigError(
                f"--input.max_length {self.params.max_length} is less than the {LEAST} digits of "
                f"the shortest string; give {LEAST} or more"
            )
        try:
            self._digit_ids = self.label_map.ids("0123456789")
        except DataError as error:
            raise ConfigError(f"--input.characters {self.params.characters}: {error}") from None

    @property
    def num_examples(self) -> Mapping[Mode, int]:
        """500 strings to evaluate; those to train on have no end."""
        return {Mode.EVAL: _EVALUATION_STRINGS, Mode.PREDICT: _EVALUATION_STRINGS}

    def data_report(self) -> DataReport:
        """Returns the digits that the strings of each split are made of."""
        with gzip.open(_FOLDER / _LABELS) as file:
            digits = file.read()[_LABEL_HEADER_BYTES:]

        def content(first: int, end: int) -> SplitContent:
            counts = {str(digit): digits[first:end].count(digit) for digit in range(10)}
            return SplitContent(
                counts=counts, sizes=[(self.height, self.width)], root=_FOLDER, remarks=[_REMARK]
            )

        return make_report(
            {Mode.TRAIN: content(*_TRAINING), Mode.EVAL: content(*_EVALUATION)},
            examples={Mode.TRAIN: None, Mode.EVAL: _EVALUATION_STRINGS},
            unit="characters",
            class_names=self.info.class_names,
        )

    def dataset(self, mode: Mode, context: InputContext) -> Any:
        """Returns batches of composed strings; see `tf_frame_recognition.inputs.text_input`."""
        import tensorflow.compat.v1 as tf

        from tf_frame_recognition.inputs import compose
        from tf_frame_vision.reading import pipeline

        training = mode == Mode.TRAIN
        digits = compose.Digits(str(_FOLDER / _IMAGES), str(_FOLDER / _LABELS), self._digit_ids)
        first, end = _TRAINING if training else _EVALUATION
        seed = context.seed if training else _EVALUATION_SEED
        if training:
            numbers = pipeline.training_numbers(context)
        else:
            numbers = tf.data.Dataset.range(_EVALUATION_STRINGS)
            numbers = numbers.shard(context.num_shards, context.shard_index)
        form = compose.Form(
            size=(self.height, self.width),
            lengths=(LEAST, min(MOST, self.params.max_length)),
            digits=(first, end),
            bend=self.params.bend,
            rotation=self.params.rotation,
            varied=training,
        )

        def batch(drawn: Any) -> Any:
            image, text = compose.strings(digits, drawn, form)
            missing = self.params.max_length - form.lengths[1]
            text = tf.pad(text, [[0, 0], [0, missing]], constant_values=-1)
            if self.params.channels == 3:
                image = tf.image.grayscale_to_rgb(image)
            features = {"image": image}
            if not training:
                label = tf.strings.as_string(drawn["number"])
                features["name"] = tf.strings.join(["string ", label])
            return features, {"text": text}

        noise = compose.make_noise(form)
        draws = pipeline.mapped(numbers, lambda number: compose.draw(number, noise, seed, form))
        batches = pipeline.batched(draws, context.batch_size, drop_remainder=training)
        return pipeline.mapped(batches, batch)
