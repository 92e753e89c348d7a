"""The input `text_tfrecord`: TFRecord files of images of words, with the keys of published sets.

data_dir/train-00000-of-00512 ...   records to train on
data_dir/validation-* or test-*     records to evaluate; may be missing

`image/encoded` and `image/transcript` are the keys of ASTER's converters (github.com/bgshih/aster,
core/standard_fields.py), `image/encoded` and `image/text` those of FSNS and of attention_ocr
(github.com/tensorflow/models, research/attention_ocr/python/datasets/fsns.py). The numbers in
their `image/class` belong to their own maps and are not read; nor is `image/format`, as the
content decides.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from tf_frame import option
from tf_frame_recognition.inputs.text_examples import TextExampleOptions, TextExamples
from tf_frame_vision.data_content import SplitContent
from tf_frame_vision.example_input import Split
from tf_frame_vision.reading.folders import SplitOptions
from tf_frame_vision.reading.record_facts import IMAGE, Values, read_record_facts
from tf_frame_vision.record_splits import record_content, record_splits


@dataclasses.dataclass(frozen=True)
class Params(SplitOptions, TextExampleOptions):
    """Options of the input."""

    data_dir: str = option("", "folder with the TFRecord files; must be given")
    train_pattern: tuple[str, ...] = option(
        ("train-*", "train*.tfrecord", "*_train*.tfrecord"),
        "names of the files to train on; the first pattern that fits any counts",
    )
    eval_pattern: tuple[str, ...] = option(
        ("validation-*", "val-*", "valid-*", "dev-*", "val*.tfrecord", "*_val*.tfrecord"),
        "names of the files to evaluate, likewise",
    )
    text_key: tuple[str, ...] = option(
        ("image/transcript", "image/text"),
        "keys of the text; of each record the first that it has counts",
    )


class TextTfrecord(TextExamples):
    """Encoded images of words and their texts in TFRecord files, shuffled as a whole."""

    Params: ClassVar[type] = Params

    def find(self) -> None:
        _, training, evaluation, self.parts = record_splits(self.params)
        self.use(training, evaluation)

    def content(self, split: Split) -> SplitContent:
        facts = read_record_facts(split.content, self._read_text, max_pixels=self.params.max_pixels)
        content = self.text_content(facts.labels)
        counts = {"counts": content.counts, "remarks": content.remarks}
        return record_content(split, facts, counts, labels=facts.labels)

    def _read_text(self, values: Values) -> str | None:
        texts = [text for key in self.params.text_key for text in values(key)]
        try:
            return texts[0].decode() if texts else None
        except (UnicodeDecodeError, AttributeError):
            return None  # Reading the examples names it.

    def read(self, split: Split, order: Any) -> Any:
        from tf_frame_vision.reading.records import record_examples

        return record_examples(
            split.content, order, _record_format(self.params.text_key), self.params
        )


def _record_format(text_keys: Sequence[str]) -> Any:
    import tensorflow.compat.v1 as tf

    from tf_frame_vision.reading.records import RecordFormat

    def parse(parsed: Mapping[str, Any]) -> tuple[Any, Mapping[str, Any], Any]:
        images = parsed[IMAGE].values
        texts = tf.concat([parsed[key].values for key in text_keys], axis=0)
        problem = tf.where(
            tf.size(texts) > 0, "", f"it has none of the keys {', '.join(text_keys)}"
        )
        problem = tf.where(tf.equal(tf.size(images), 1), problem, f"it has not one {IMAGE}")
        text = tf.strings.reduce_join(texts[:1])
        return tf.strings.reduce_join(images[:1]), {"text": text}, problem

    return RecordFormat(
        keys={key: tf.io.VarLenFeature(tf.string) for key in (IMAGE, *text_keys)},
        specs={"text": tf.TensorSpec([], tf.string)},
        parse=parse,
    )
