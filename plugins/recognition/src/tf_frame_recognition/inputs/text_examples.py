"""Base class of inputs that read words one by one: checks of the labels, and preparation.

An empty label, a character outside of the label map, a word longer than `--input.max_length`
and an image that cannot be decoded end the run with an error that names the example, or with
`--input.skip_corrupt` are left out, named and counted.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from tf_frame import DataWarning, Mode, option
from tf_frame.text import brief
from tf_frame_recognition.inputs.text_input import TextInput, TextOptions
from tf_frame_vision.data_content import SplitContent
from tf_frame_vision.example_input import ExampleInput, ExampleOptions, Split

# Largest change of brightness, in grey values, and of contrast, by augmentation.
_BRIGHTNESS = 32.0
_CONTRAST = (0.6, 1.4)


@dataclasses.dataclass(frozen=True)
class TextExampleOptions(TextOptions, ExampleOptions):
    """Options of all inputs that read words one by one."""

    augment: bool = option(True, "whether brightness and contrast of training images are varied")


class TextExamples(TextInput, ExampleInput):
    """Input of words; a subclass finds and reads examples with `image` and `text`, a string.

    A subclass calls `use` in its `find`.
    """

    Params: ClassVar[type] = TextExampleOptions
    thread_safe_build: ClassVar[bool] = True
    counted_unit: ClassVar[str] = "characters"

    def use(self, training: Split, evaluation: Split) -> None:
        """Sets the splits that the subclass has found."""
        self.splits = {Mode.TRAIN: training, Mode.EVAL: evaluation, Mode.PREDICT: evaluation}

    @property
    def num_examples(self) -> Mapping[Mode, int]:
        """Sizes of the splits."""
        return {mode: split.count for mode, split in self.splits.items()}

    def text_content(self, texts: Sequence[str], **content: Any) -> SplitContent:
        """Returns the content of a split: its characters, and the lengths of the texts.

        Args:
          texts: the texts.
          **content: further attributes.
        """
        folded = [self.label_map.folded(text) for text in texts]
        total = Counter(itertools.chain.from_iterable(folded))
        lengths = sorted({*map(len, folded)})
        least_to_most = " to ".join(map(str, dict.fromkeys(lengths[:1] + lengths[-1:])))
        return SplitContent(
            counts={character: total[character] for character in self.label_map.characters},
            remarks=[f"texts have {least_to_most} characters"] if texts else (),
            **content,
        )

    def data_warnings(self, training: SplitContent) -> Sequence[DataWarning]:
        """Returns a warning if all texts to train on, the labels of the content, are the same."""
        texts = training.labels
        if len(texts) < 2 or len({*texts}) > 1:
            return ()
        return (
            DataWarning(
                "constant_labels",
                f"all {len(texts)} training texts are {brief(texts[0])}, so that nothing is "
                "learned",
                "check the file of labels",
            ),
        )

    def checked(self, example: Any) -> Any:
        """Looks up the text, which becomes `ids`; one that cannot be used is a problem."""
        import tensorflow.compat.v1 as tf

        ids, problem = self.label_map.padded_ids(example["text"], self.params.max_length)
        named = tf.strings.join([example["name"], problem], separator=": ")
        named = tf.where(tf.equal(problem, ""), problem, named)
        problem = tf.where(tf.equal(example["problem"], ""), named, example["problem"])
        return {**example, "ids": ids, "problem": problem}

    def prepare(self, example: Any, *, is_training: bool, seed: Any) -> tuple[dict[str, Any], Any]:
        """Returns `image`, of the size of the options, and `text`, the numbers."""
        image = self.resized(example["image"])
        if is_training:
            image = self.augmented(image, seed)
        return {"image": image}, {"text": example["ids"]}

    def augmented(self, image: Any, seed: Any) -> Any:
        """Returns the image with another brightness and contrast."""
        import tensorflow.compat.v1 as tf

        share = tf.random.stateless_uniform([2], seed)
        brightness = _BRIGHTNESS * (2 * share[0] - 1)
        contrast = _CONTRAST[0] + (_CONTRAST[1] - _CONTRAST[0]) * share[1]
        mean = tf.reduce_mean(image)
        image = mean + brightness + contrast * (image - mean)
        return tf.clip_by_value(image, 0, 255)
