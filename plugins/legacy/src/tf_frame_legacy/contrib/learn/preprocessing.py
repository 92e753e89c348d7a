"""Words to numbers: `VocabularyProcessor` and its parts.

processor = VocabularyProcessor(max_document_length=4)
x = np.array(list(processor.fit_transform(["to be or not", "to be"])))  # [documents, 4]
"""

from __future__ import annotations

import collections
import pickle
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

# Acronyms, the first parts of CamelCase, and other words with their hyphens and apostrophes.
_ACRONYM, _CAMEL, _OTHER = r"[A-Z]{2,}(?![a-z])", r"[A-Z][a-z]+(?=[A-Z])", r"[-'\w]+"
_WORD = re.compile("|".join([_ACRONYM, _CAMEL, _OTHER]))


def tokenizer(iterator: Iterable[str]) -> Iterator[list[str]]:
    """Yields the words of each text."""
    for text in iterator:
        yield _WORD.findall(text)


class CategoricalVocabulary:
    """Numbers words in the order of their first use; 0 is an unknown word.

    Args:
      unknown_token: the word for number 0.
      support_reverse: whether numbers can be turned into words.
    """

    def __init__(self, unknown_token: str = "<UNK>", support_reverse: bool = True) -> None:
        self._unknown_token = unknown_token
        self._support_reverse = support_reverse
        # Programs read these attributes.
        self._mapping: dict[Any, int] = {unknown_token: 0}
        self._reverse_mapping: list[Any] = [unknown_token]
        self._freq: dict[Any, int] = collections.Counter()
        self._frozen = False

    def __len__(self) -> int:
        return len(self._mapping)

    def freeze(self, freeze: bool = True) -> None:
        """Decides whether new words are unknown words from now on."""
        self._frozen = freeze

    def get(self, category: Any) -> int:
        """Returns the number of a word, a new one for a new word."""
        if category not in self._mapping:
            if self._frozen:
                return 0
            self._mapping[category] = len(self._mapping)
            self._reverse_mapping.append(category)
        return self._mapping[category]

    def add(self, category: Any, count: int = 1) -> None:
        """Adds to the frequency of a word."""
        if self.get(category) > 0:
            self._freq[category] += count

    def trim(self, min_frequency: int, max_frequency: int = -1) -> None:
        """Keeps words that are more frequent than `min_frequency`, numbered by frequency.

        Args:
          min_frequency: frequency of the words that just do not stay.
          max_frequency: words of this frequency or a higher one do not stay either; default: all
            stay.
        """
        by_word = sorted(self._freq.items(), key=lambda pair: (isinstance(pair[0], str), pair[0]))
        by_count = sorted(by_word, key=lambda pair: pair[1], reverse=True)
        kept = [
            (word, count)
            for word, count in by_count
            if count > min_frequency and not 0 < max_frequency <= count
        ]
        self._reverse_mapping = [self._unknown_token, *(word for word, _ in kept)]
        self._mapping = {word: number for number, word in enumerate(self._reverse_mapping)}
        self._freq = collections.Counter(dict(kept))

    def reverse(self, class_id: int) -> Any:
        """Returns the word of a number.

        Raises:
          ValueError: the vocabulary was made without `support_reverse`.
        """
        if not self._support_reverse:
            raise ValueError(
                "This vocabulary wasn't initialized with support_reverse to support reverse() "
                "function."
            )
        return self._reverse_mapping[class_id]


class VocabularyProcessor:
    """Turns texts into rows of word numbers, all of the same length.

    Args:
      max_document_length: length of the rows; longer texts are cut, shorter ones end with zeros.
      min_frequency: `fit` drops words of this frequency or a lower one; 0 keeps all.
      vocabulary: a `CategoricalVocabulary`; default: a new one.
      tokenizer_fn: takes texts and yields the words of each; default: `tokenizer`.

    Attributes:
      vocabulary_: the vocabulary.
    """

    def __init__(
        self,
        max_document_length: int,
        min_frequency: int = 0,
        vocabulary: CategoricalVocabulary | None = None,
        tokenizer_fn: Callable[[Iterable[str]], Iterable[list[str]]] | None = None,
    ) -> None:
        self.max_document_length = max_document_length
        self.min_frequency = min_frequency
        self.vocabulary_ = vocabulary or CategoricalVocabulary()
        self._tokenizer = tokenizer_fn or tokenizer

    def fit(self, raw_documents: Iterable[str], unused_y: Any = None) -> VocabularyProcessor:
        """Learns the words of texts; further words are unknown words."""
        for words in self._tokenizer(raw_documents):
            for word in words:
                self.vocabulary_.add(word)
        if self.min_frequency > 0:
            self.vocabulary_.trim(self.min_frequency)
        self.vocabulary_.freeze()
        return self

    def fit_transform(self, raw_documents: Any, unused_y: Any = None) -> Iterator[Any]:
        """Learns the words of texts, and yields a row for each text."""
        self.fit(raw_documents)
        return self.transform(raw_documents)

    def transform(self, raw_documents: Iterable[str]) -> Iterator[Any]:
        """Yields a row `[max_document_length]` of int64 for each text."""
        for words in self._tokenizer(raw_documents):
            row = np.zeros(self.max_document_length, np.int64)
            for index, word in enumerate(words[: self.max_document_length]):
                row[index] = self.vocabulary_.get(word)
            yield row

    def reverse(self, documents: Iterable[Iterable[int]]) -> Iterator[str]:
        """Yields the text of each row."""
        for row in documents:
            yield " ".join(self.vocabulary_.reverse(number) for number in row)

    def save(self, filename: str) -> None:
        """Writes this object to a file."""
        with tf.io.gfile.GFile(filename, "wb") as file:
            file.write(pickle.dumps(self))

    @classmethod
    def restore(cls, filename: str) -> VocabularyProcessor:
        """Returns the object in a file of `save`."""
        with tf.io.gfile.GFile(filename, "rb") as file:
            restored: VocabularyProcessor = pickle.loads(file.read())
        return restored
