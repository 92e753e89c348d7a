import random

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame.runs.evaluation.printing import metrics_table
from tf_frame_recognition.evaluation.metrics import recognition_metrics
from tf_frame_recognition.labels import LabelMap

CHARACTERS = "abcABC12'é"
MAX_LENGTH = 5


def levenshtein(first, second):
    """The recurrence of its definition, without a table."""
    if not first or not second:
        return len(first) + len(second)
    shorter = (first[1:], second), (first, second[1:])
    replaced = levenshtein(first[1:], second[1:]) + (first[0] != second[0])
    return min(replaced, *(levenshtein(*each) + 1 for each in shorter))


def share(first, second):
    return levenshtein(first, second) / max(len(first), len(second), 1)


def padded_ids(words):
    ids = [[CHARACTERS.index(each) for each in word] for word in words]
    return np.array([row + [-1] * (MAX_LENGTH - len(row)) for row in ids], np.int32)


def random_words(count, least, seed):
    draws = random.Random(seed)
    return ["".join(draws.choices(CHARACTERS, k=draws.randint(least, 5))) for _ in range(count)]


def evaluated(batches, *, case_sensitive=True, punctuation=True):
    """The metrics after batches of (predictions, truth)."""
    with tf.Graph().as_default(), tf.Session() as session:
        predicted = tf.placeholder(tf.string, [None])
        labels = tf.placeholder(tf.int32, [None, MAX_LENGTH])
        pairs = recognition_metrics(
            predicted,
            labels,
            label_map=LabelMap(CHARACTERS),
            case_sensitive=case_sensitive,
            punctuation=punctuation,
            max_length=MAX_LENGTH,
        )
        session.run(tf.local_variables_initializer())
        updates = {name: update for name, (_, update) in pairs.items()}
        for words, truth in batches:
            session.run(updates, {predicted: words, labels: padded_ids(truth)})
        return session.run({name: value for name, (value, _) in pairs.items()})


def test_figures_of_all_batches_are_those_of_the_definition():
    truth = random_words(60, 1, seed=1)
    # Some words are right, some are empty, some differ in the case alone.
    predicted = [
        word if i % 4 == 0 else other
        for i, (word, other) in enumerate(zip(truth, random_words(60, 0, seed=2), strict=True))
    ]
    values = evaluated([(predicted[:40], truth[:40]), (predicted[40:], truth[40:])])
    pairs = list(zip(predicted, truth, strict=True))
    assert values["word_accuracy"] == pytest.approx(np.mean([a == b for a, b in pairs]))
    assert values["edit_distance"] == pytest.approx(np.mean([share(*each) for each in pairs]))
    for length in range(1, MAX_LENGTH + 1):
        those = [(a, b) for a, b in pairs if len(b) == length]
        assert values[f"words_length_{length}"] == len(those) > 0
        right = np.mean([a == b for a, b in those])
        assert values[f"word_accuracy_length_{length}"] == pytest.approx(right)
        distance = np.mean([share(*each) for each in those])
        assert values[f"edit_distance_length_{length}"] == pytest.approx(distance)


@pytest.mark.parametrize(
    ("case_sensitive", "punctuation", "right"),
    [(True, True, 1), (False, True, 2), (True, False, 3), (False, False, 5)],
)
def test_protocols(case_sensitive, punctuation, right):
    words = ["abc", "AbC", "ab'c", "A'É1", "'", "ab"]
    truth = ["abc", "abc", "abc", "aé1", "''", "ac"]
    values = evaluated([(words, truth)], case_sensitive=case_sensitive, punctuation=punctuation)
    assert values["word_accuracy"] == pytest.approx(right / 6)


def test_empty_predictions_have_distance_1_and_lengths_without_words_are_0():
    values = evaluated([(["", ""], ["ab", "a"])])
    assert values["word_accuracy"] == 0
    assert values["edit_distance"] == 1
    assert values["words_length_3"] == values["word_accuracy_length_3"] == 0


def test_lengths_are_rows_of_a_table():
    lines = metrics_table(
        evaluated([(["b", "a", "ab", "ab"], ["a", "a", "ab", "ba"])])
    ).splitlines()
    rows = [line.split() for line in lines]
    assert rows[:4] == [
        ["word_accuracy", "0.5000"],
        ["edit_distance", "0.5000"],
        ["word_accuracy", "edit_distance", "words"],
        ["length_1", "0.5000", "0.5000", "2"],
    ]
    assert len(rows) == 3 + MAX_LENGTH
