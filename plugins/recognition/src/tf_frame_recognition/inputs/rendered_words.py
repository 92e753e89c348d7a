"""The input `rendered_words`: words of a list, drawn in fonts of the machine while training.

No data is needed: the package has a list of common English words, and Pillow brings a font.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

from tf_frame import option
from tf_frame.errors import DataError
from tf_frame.text import short
from tf_frame.text_file import read_names
from tf_frame_recognition.inputs.text_examples import TextExampleOptions, TextExamples
from tf_frame_vision.data_content import SplitContent
from tf_frame_vision.example_input import Split, nothing_held_out
from tf_frame_vision.reading.damage import Damage, check_damage
from tf_frame_vision.reading.folders import held_out

_WORDS = Path(__file__).parents[1] / "data" / "words.txt"
_EVALUATION_IMAGES = 500
# The evaluation images are the same in every run on the same fonts.
_EVALUATION_SEED = 20


@dataclasses.dataclass(frozen=True)
class Params(TextExampleOptions):
    """Options of the input."""

    words: str = option("", "UTF-8 file, a word a line; empty: some 260 common English words")
    fonts: tuple[str, ...] = option(
        (),
        "fonts, or folders of fonts; empty: fonts of the machine, or else the font of Pillow",
    )
    eval_fraction: float = option(
        0.1,
        "part of the words that is held out; 500 images of them are evaluated; 0: none",
        min=0.0,
        max=0.9,
    )
    augment: bool = option(True, "whether words are curved and in perspective; else straight")


class RenderedWords(TextExamples):
    """Words drawn by Pillow in varied fonts, colours and shapes.

    An image follows from the seed and its number. Fonts that do not have all characters of the
    label map are left out. Evaluation images are of other words and always the same.
    """

    Params: ClassVar[type] = Params

    def find(self) -> None:
        from tf_frame_recognition.inputs.fonts import find_fonts

        params = self.params
        path = Path(params.words).expanduser() if params.words else _WORDS
        words = _words(path)
        problems = ((word, self.label_map.find_problem(word, params.max_length)) for word in words)
        damaged = [Damage(f"{path}: {word}", problem) for word, problem in problems if problem]
        check_damage(damaged, skip_corrupt=params.skip_corrupt)
        characters = self.label_map.characters
        self.fonts = find_fonts(params.fonts, characters)
        evaluated = held_out(words, params.eval_fraction)
        training = [word for word in words if word not in evaluated]
        evaluation = nothing_held_out(params, path)
        if evaluated:
            evaluation = Split(_EVALUATION_IMAGES, (str(path), sorted(evaluated), True))
        self.use(Split(len(training), (str(path), training, False)), evaluation)

    def notes(self) -> Sequence[str]:
        """Says how many fonts there are."""
        if self.trained is not None:
            return []
        embedded = " (the one of Pillow)" if self.fonts == [""] else ""
        return [f"fonts that have all characters: {len(self.fonts)}{embedded}"]

    def content(self, split: Split) -> SplitContent:
        path, words, _ = split.content
        return self.text_content(
            words,
            sizes=[(self.height, self.width)],
            root=Path(path).parent,
            # A single word is drawn again and again.
            labels=words * 2,
        )

    def read(self, split: Split, order: Any) -> Any:
        """Returns words; `is_fixed` says that the seed of the run has no effect."""
        import tensorflow.compat.v1 as tf

        from tf_frame_vision.reading import arrays
        from tf_frame_vision.reading.examples import example, read_by_function

        path, words, is_fixed = split.content
        texts = arrays.Texts(words)
        specs = {"text": tf.TensorSpec([], tf.string), "is_fixed": tf.TensorSpec([], tf.bool)}

        def word(index: Any) -> dict[str, Any]:
            text = texts[index % len(words)]
            name = tf.strings.join([path, ": word ", text, ", image ", tf.strings.as_string(index)])
            return example(specs, {"text": text, "is_fixed": is_fixed}, name)

        return read_by_function(order, word)

    def prepare(self, example: Any, *, is_training: bool, seed: Any) -> tuple[dict[str, Any], Any]:
        """Returns `image`, the drawn word, and `text`, the numbers."""
        import tensorflow.compat.v1 as tf

        fixed = tf.constant(_EVALUATION_SEED, tf.int64)
        first = tf.where(example["is_fixed"], fixed, seed[0])
        draw = functools.partial(
            _draw,
            fonts=self.fonts,
            size=(self.height, self.width),
            channels=self.params.channels,
            bent=self.params.augment,
        )
        # It has no state, so that the position in the data can be saved.
        image = tf.numpy_function(
            draw, [example["text"], first, seed[1]], tf.float32, stateful=False
        )
        image = tf.ensure_shape(image, [self.height, self.width, self.params.channels])
        return {"image": image}, {"text": example["ids"]}


def _draw(word: bytes, seed: Any, number: Any, **form: Any) -> Any:
    import numpy as np

    from tf_frame_recognition.inputs.render import draw_word

    # Seeds of NumPy are not negative.
    random = np.random.default_rng([int(seed) % 2**63, int(number)])
    return draw_word(word.decode(), random, **form)


def _words(path: Path) -> list[str]:
    """Reads the words of a file, each once, in their order.

    Raises:
      DataError: it cannot be read, or has no word.
    """
    words = list(dict.fromkeys(read_names(path)))
    if not words:
        raise DataError(f"--input.words {short(path)} has no word; write one a line")
    return words
