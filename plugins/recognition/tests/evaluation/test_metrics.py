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
    return min(replaced, *(levenshtein(*pair) + 1 for pair in shorter))


def share(first, second):
    return levenshtein(first, second) / max(len(first), len(second), 1)


def padded_ids(words):
    ids = [[CHARACTERS.index(character) for character in word] for word in words]
    return np.array([row + [-1] * (MAX_LENGTH - len(row)) for row in ids], np.int32)


def random_words(count, least, seed):
    draws = random.Random(seed)
    return ["".join(draws.choices(CHARACTERS, k=draws.randint(least, 5))) for _ in range(count)]


def evaluate(batches, **protocol):
    """The metrics after batches of (predictions, truth)."""
    with tf.Graph().as_default(), tf.Session() as session:
        predicted = tf.placeholder(tf.string, [None])
        labels = tf.placeholder(tf.int32, [None, MAX_LENGTH])
        options = {"case_sensitive": True, "punctuation": True, **protocol}
        options |= {"label_map": LabelMap(CHARACTERS), "max_length": MAX_LENGTH}
        pairs = recognition_metrics(predicted, labels, **options)
        session.run(tf.local_variables_initializer())
        updates = {name: update for name, (_, update) in pairs.items()}
        for words, truth in batches:
            session.run(updates, {predicted: words, labels: padded_ids(truth)})
        return session.run({name: value for name, (value, _) in pairs.items()})


def test_figures_of_all_batches_are_those_of_the_definition():
    truth = random_words(60, 1, seed=1)
    # Some words are right, some are empty, some differ in the case alone.
    predicted = random_words(60, 0, seed=2)
    predicted[::4] = truth[::4]
    values = evaluate([(predicted[:40], truth[:40]), (predicted[40:], truth[40:])])
    pairs = list(zip(predicted, truth, strict=True))
    assert values["word_accuracy"] == pytest.approx(np.mean([a == b for a, b in pairs]))
    assert values["edit_distance"] == pytest.approx(np.mean([share(*pair) for pair in pairs]))
    for length in range(1, MAX_LENGTH + 1):
        of_length = [(a, b) for a, b in pairs if len(b) == length]
        assert values[f"words_length_{length}"] == len(of_length) > 0
        right = np.mean([a == b for a, b in of_length])
        assert values[f"word_accuracy_length_{length}"] == pytest.approx(right)
        distance = np.mean([share(*pair) for pair in of_length])
        assert values[f"edit_distance_length_{length}"] == pytest.approx(distance)


@pytest.mark.parametrize(
    ("case_sensitive", "punctuation", "right"),
    [(True, True, 1), (False, True, 2), (True, False, 3), (False, False, 5)],
)
def test_protocols(case_sensitive, punctuation, right):
    words = ["abc", "AbC", "ab'c", "A'É1", "'", "ab"]
    truth = ["abc", "abc", "abc", "aé1", "''", "ac"]
    values = evaluate([(words, truth)], case_sensitive=case_sensitive, punctuation=punctuation)
    assert values["word_accuracy"] == pytest.approx(right / 6)


def test_empty_predictions_have_distance_1_and_lengths_without_words_have_no_figures():
    values = evaluate([(["", ""], ["ab", "a"])])
    assert (values["word_accuracy"], values["edit_distance"]) == (0, 1)
    assert np.isnan([values["words_length_3"], values["word_accuracy_length_3"]]).all()


def test_lengths_are_rows_of_a_table():
    values = evaluate([(["b", "a", "ab", "ab"], ["a", "a", "ab", "ba"])])
    rows = [line.split() for line in metrics_table(values).splitlines()]
    assert rows[:4] == [
        ["word_accuracy", "0.5000"],
        ["edit_distance", "0.5000"],
        ["word_accuracy", "edit_distance", "words"],
        ["length_1", "0.5000", "0.5000", "2"],
    ]
    assert [row[0] for row in rows[4:5]] == ["length_2"]
    assert " ".join(rows[5]) == f"{MAX_LENGTH - 2} lengths without an example are left out"
