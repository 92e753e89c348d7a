"""Label maps: the characters that a model reads, each with its number.

    digits      0 to 9
    lower       digits, then a to z; texts are folded to lower case first
    case        digits, a to z, A to Z
    printable   the characters of `case`, then the 32 ASCII punctuation marks: 94 characters
    FILE        UTF-8, a character a line

Accents count in whatever form a text has them: of the forms NFC and NFD and the text itself, the
first is looked up that has characters of the map only.

A map holds no blank, start or end: these belong to the heads. TensorFlow is imported only by the
functions that add ops to a graph.
"""

from __future__ import annotations

import string
import unicodedata
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tf_frame.errors import ConfigError, DataError
from tf_frame.text import brief, listed, short
from tf_frame.text_file import normal_name, read_lines

DIGITS = "digits"
LOWER = "lower"
_MAPS = {
    DIGITS: string.digits,
    LOWER: string.digits + string.ascii_lowercase,
    "case": string.digits + string.ascii_letters,
    "printable": string.digits + string.ascii_letters + string.punctuation,
}
# Fills ids behind the end of a text.
PADDING = -1
_IS_EMPTY = "its text is empty"
_NOT_KNOWN = "which --input.characters does not have"


class LabelMap:
    """Characters and their numbers, 0 and more.

    Args:
      characters: the characters, one code point each.
      folds_case: whether texts are folded to lower case before they are looked up.

    Raises:
      ConfigError: there is no character, an element is not a single character, or comes twice.
    """

    def __init__(self, characters: Sequence[str], *, folds_case: bool = False) -> None:
        self.characters = tuple(characters)
        self.folds_case = folds_case
        self._ids = {character: number for number, character in enumerate(self.characters)}
        self._is_ascii = "".join(self.characters).isascii()
        if not self.characters:
            raise ConfigError("a label map needs at least one character")
        for number, character in enumerate(self.characters):
            if len(character) != 1:
                raise ConfigError(
                    f"character {number} of the label map, {brief(character)}, is not one"
                )
            if self._ids[character] != number:
                raise ConfigError(f"the label map has the character {brief(character)} twice")

    def folded(self, text: str) -> str:
        """Returns a text as it is looked up: in one case, and with accents in the map's form."""
        text = text.lower() if self.folds_case else text
        if self._is_ascii or text.isascii():
            return text
        forms = [unicodedata.normalize(form, text) for form in ("NFC", "NFD")]
        return next((form for form in [*forms, text] if self._ids.keys() >= set(form)), forms[0])

    def ids(self, text: str) -> list[int]:
        """Returns the numbers of a text's characters.

        Raises:
          DataError: the map does not have a character.
        """
        folded = self.folded(text)
        unknown = [character for character in folded if character not in self._ids]
        if unknown:
            raise DataError(
                f"the label map does not have the character {brief(unknown[0])} of "
                f"{brief(text)}; see --input.characters"
            )
        return [self._ids[character] for character in folded]

    def find_problem(self, text: str, max_length: int) -> str:
        """Returns the reason why a text cannot be used, as `padded_ids` does; empty if it can.

        Args:
          text: the text.
          max_length: the most characters it may have.
        """
        folded = self.folded(text)
        if not folded:
            return _IS_EMPTY
        if len(folded) > max_length:
            return (
                f"its text {text} has {len(folded)} characters; --input.max_length is {max_length}"
            )
        unknown = next((char for char in folded if char not in self._ids), None)
        if unknown is None:
            return ""
        return f"its text {text} has the character {unknown}, {_NOT_KNOWN}"

    def text(self, ids: Sequence[int]) -> str:
        """Returns the text of numbers; those below 0 are padding."""
        return "".join(self.characters[number] for number in ids if number >= 0)

    def strings(self, ids: Any) -> Any:
        """Returns the texts of numbers in the graph, `[batch]` UTF-8 strings.

        Args:
          ids: `[batch, length]` integers, padded by -1.
        """
        import tensorflow.compat.v1 as tf

        # The last entry stands for padding.
        table = tf.constant([*self.characters, ""])
        places = tf.where(ids >= 0, ids, tf.fill(tf.shape(ids), tf.cast(len(self._ids), ids.dtype)))
        return tf.strings.reduce_join(tf.gather(table, places), axis=1)

    def padded_ids(self, text: Any, max_length: int) -> tuple[Any, Any]:
        """Looks up a text in the graph.

        Args:
          text: scalar UTF-8 string.
          max_length: the most characters it may have.

        Returns:
          The numbers, `[max_length]` int32, padded by -1; and a scalar string, the reason why the
          text cannot be used: empty, too long, or a character outside of the map; else empty.
        """
        import tensorflow.compat.v1 as tf

        characters = self._characters(text)
        same = tf.equal(characters[:, tf.newaxis], tf.constant(self.characters))
        is_known, count = tf.reduce_any(same, axis=1), tf.size(characters)
        ids = tf.argmax(tf.cast(same, tf.int32), axis=1, output_type=tf.int32)
        ids = tf.where(is_known, ids, tf.fill([count], PADDING))[:max_length]
        missing = max_length - tf.size(ids)
        ids = tf.pad(ids, [[0, missing]], constant_values=PADDING)
        outside = tf.boolean_mask(characters, ~is_known)
        problem = _problem(text, count, max_length, outside)
        return tf.ensure_shape(ids, [max_length]), problem

    def _characters(self, text: Any) -> Any:
        """Returns the characters of a text, `[length]`; bytes that are no UTF-8 become U+FFFD."""
        import tensorflow.compat.v1 as tf

        def fold(data: bytes) -> bytes:
            return self.folded(data.decode(errors="replace")).encode()

        if self._is_ascii:
            text = tf.strings.unicode_transcode(text, "UTF-8", "UTF-8", errors="replace")
        else:
            # TensorFlow knows no forms. Without a state, so that a position can be saved.
            text = tf.numpy_function(fold, [text], tf.string, stateful=False)
            text = tf.ensure_shape(text, [])
        if self.folds_case:
            text = tf.strings.lower(text, encoding="utf-8")
        return tf.strings.unicode_split(text, "UTF-8")


def _problem(text: Any, count: Any, max_length: int, outside: Any) -> Any:
    import tensorflow.compat.v1 as tf

    # Without quotes, which TensorFlow would escape in the message of an error.
    its_text, unknown = tf.strings.join(["its text ", text]), tf.strings.reduce_join(outside[:1])
    not_known = tf.strings.join([its_text, " has the character ", unknown, f", {_NOT_KNOWN}"])
    limit = f" characters; --input.max_length is {max_length}"
    too_long = tf.strings.join([its_text, " has ", tf.strings.as_string(count), limit])
    problem = tf.where(tf.equal(tf.size(outside), 0), "", not_known)
    problem = tf.where(count > max_length, too_long, problem)
    return tf.where(count > 0, problem, _IS_EMPTY)


def load_label_map(name: str) -> LabelMap:
    """Returns the label map that `--input.characters` names.

    Args:
      name: `digits`, `lower`, `case`, `printable`, or a file.

    Raises:
      ConfigError: there is no such map or file, or the file has a line of another form.
    """
    if name in _MAPS:
        return LabelMap(_MAPS[name], folds_case=name == LOWER)
    path = Path(name).expanduser()
    if not path.exists():
        raise ConfigError(
            f"--input.characters {name} is none of {listed(_MAPS)}, and there is no such file"
        )
    # A line of one space is the character space; a letter and its accent are one character.
    lines = [line for line in read_lines(path) if line]
    characters = [line if len(line) == 1 else normal_name(line) for line in lines]
    try:
        return LabelMap(characters)
    except ConfigError as error:
        raise ConfigError(f"--input.characters {short(path)}: {error}") from None


def comparable(texts: Any, *, case_sensitive: bool, punctuation: bool) -> Any:
    """Returns texts as a protocol of evaluation compares them.

    The protocol of most published figures compares without case and only letters and digits
    (Shi et al., ASTER, https://doi.org/10.1109/TPAMI.2018.2848939).

    Args:
      texts: UTF-8 strings of any shape.
      case_sensitive: whether `a` and `A` differ.
      punctuation: whether all characters count; else letters and digits of any script.
    """
    import tensorflow.compat.v1 as tf

    if not case_sensitive:
        texts = tf.strings.lower(texts, encoding="utf-8")
    if not punctuation:
        texts = tf.strings.regex_replace(texts, r"[^\pL\pN]", "")
    return texts
