"""Matches: figures of the object detection API's tests (tensorflow/models,
research/object_detection/matchers/argmax_matcher_test.py), and a loop over boxes.
"""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame.errors import ConfigError
from tf_frame_detection.targets.matcher import ArgmaxMatcher

FIRST = [[1, 1, 1, 3, 1], [2, -1, 2, 0, 4], [3, 0, -1, 0, 0]]
SECOND = [[1, 1, 1, 3, 1], [-1, 0, -2, -2, -1], [3, 0, -1, 2, 0]]


def run(matcher, similarity, valid=None, dynamic=True):
    """Matches of one image or of a batch, of known or unknown shape."""
    similarity = np.float32(similarity)
    single = similarity.ndim == 2
    similarity = similarity[None] if single else similarity
    valid = (
        np.ones(similarity.shape[:2], bool)
        if valid is None
        else np.reshape(valid, similarity.shape[:2])
    )
    with tf.Graph().as_default(), tf.Session() as session:
        shapes = ([None] * 3, [None] * 2) if dynamic else (similarity.shape, valid.shape)
        fed = [tf.placeholder(t, s) for t, s in zip((tf.float32, tf.bool), shapes, strict=True)]
        matches = session.run(matcher(*fed), {fed[0]: similarity, fed[1]: valid})
    assert matches.dtype == np.int32
    return matches[0].tolist() if single else matches.tolist()


def matcher(matched, unmatched=None, force=False):
    return ArgmaxMatcher(
        matched_threshold=matched, unmatched_threshold=unmatched, force_match=force
    )


@pytest.mark.parametrize("dynamic", [True, False])
def test_published_matches_and_background_without_boxes(dynamic):
    def matches(*arguments, similarity=FIRST, valid=None):
        return run(matcher(*arguments), similarity, valid, dynamic)

    # Names of the API: default_thresholds, matched_threshold, matched_and_unmatched_threshold.
    assert matches(-9.0) == [2, 0, 1, 0, 1]
    assert matches(3.0) == [2, -1, -1, 0, 1]
    assert matches(3.0, 2.0) == [2, -1, -2, 0, 1]
    # unmatched_row_not_using_force_match, unmatched_row_while_using_force_match.
    assert matches(3.0, 2.0, similarity=SECOND) == [2, -1, -1, 0, -1]
    assert matches(3.0, 2.0, True, similarity=SECOND) == [2, 1, -1, 0, -1]
    # using_force_match_padded_groundtruth.
    padded = [*SECOND[:2], [0] * 5, SECOND[2], [0] * 5]
    valid = [True, True, False, True, False]
    assert matches(3.0, 2.0, True, similarity=padded, valid=valid) == [3, 1, -1, 0, -1]
    assert run(ArgmaxMatcher(), np.zeros([0, 5]), dynamic=dynamic) == [-1] * 5
    assert run(ArgmaxMatcher(), np.ones([2, 3, 4]), np.zeros([2, 3], bool)) == [[-1] * 4] * 2


def test_the_first_of_equal_similarities_and_the_least_of_a_range_count():
    assert run(matcher(0.5), [[0.7, 0.2], [0.7, 0.6]]) == [0, 1]
    # The first of two anchors that suit a box equally is forced; the first of two boxes gets it.
    assert run(matcher(0.5, force=True), [[0.3, 0.3], [0.1, 0.1]]) == [0, -1]
    assert run(matcher(0.5, 0.25), [[0.5, 0.25, 0.24, 0.49]]) == [0, -2, -1, -2]
    # A batch is matched image by image.
    generator = np.random.default_rng(2)
    similarity = np.float32(generator.uniform(0, 0.8, [6, 5, 11]))
    valid = np.arange(5) < np.array([5, 0, 3, 1, 4, 2])[:, None]
    expected = [reference(s, v, 0.7, 0.4) for s, v in zip(similarity, valid, strict=True)]
    assert run(matcher(0.7, 0.4, force=True), similarity, valid) == expected
    assert {-2, -1, 0, 1} <= set(np.ravel(expected))
    with pytest.raises(ConfigError, match="0.6, is above that of matches, 0.5"):
        matcher(0.5, 0.6)


def reference(similarity, valid, matched, unmatched):
    """Matches of an image with forcing, anchor by anchor and box by box."""
    matches = []
    for column in similarity.T:
        best = max(
            (i for i in range(len(column)) if valid[i]), key=lambda i: column[i], default=None
        )
        if best is None or column[best] < unmatched:
            matches.append(-1)
        else:
            matches.append(best if column[best] >= matched else -2)
    for row in reversed(range(len(similarity))):
        if valid[row]:
            matches[int(np.argmax(similarity[row]))] = row
    return matches
