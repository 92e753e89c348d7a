"""Targets of a batch against a loop over anchors."""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from sessions import compute
from tf_frame_detection.boxes import rotated, upright
from tf_frame_detection.boxes.coders import FasterRcnnCoder, RotatedCoder
from tf_frame_detection.targets.assigner import Assigner, Targets, with_background
from tf_frame_detection.targets.matcher import ArgmaxMatcher

# A grid of boxes of 20 pixels at distances of 10, in an image of 60.
ANCHORS = np.float32([[r, c, r + 20, c + 20] for r in range(0, 50, 10) for c in range(0, 50, 10)])
MATCHER = ArgmaxMatcher(matched_threshold=0.5, unmatched_threshold=0.4)
CLASSES = 3


CODER = FasterRcnnCoder()


def run(labels, coder=CODER, dynamic=True, **options):
    with tf.Graph().as_default(), tf.Session() as session:
        fed = {
            name: tf.placeholder(
                array.dtype, [None] * 2 + list(array.shape[2:]) if dynamic else array.shape
            )
            for name, array in labels.items()
        }
        targets = Assigner(coder, MATCHER, CLASSES, **options).assign_batch(
            tf.constant(ANCHORS), fed
        )
        return Targets(*session.run(list(targets), {fed[n]: labels[n] for n in labels}))


def padded(images, length):
    """Labels of a batch; an image is a list of (box, class, ignored)."""
    labels = {
        "boxes": np.zeros([len(images), length, 4], np.float32),
        "classes": np.full([len(images), length], -1, np.int32),
        "ignored": np.zeros([len(images), length], bool),
    }
    for i, image in enumerate(images):
        for j, (box, class_, ignored) in enumerate(image):
            labels["boxes"][i, j], labels["classes"][i, j] = box, class_
            labels["ignored"][i, j] = ignored
    return labels


def reference(image):
    """Number of each anchor's box, -1 or -2, anchor by anchor."""
    if not image:
        return [-1] * len(ANCHORS)
    boxes = np.float32([box for box, _, _ in image])
    overlap = upright.iou(ANCHORS, boxes, ops=np)
    share = upright.intersection_over_area(ANCHORS, boxes, ops=np)
    wanted = [i for i, (_, _, ignored) in enumerate(image) if not ignored]
    spared = [i for i, (_, _, ignored) in enumerate(image) if ignored]
    forced = {int(overlap[:, i].argmax()): i for i in reversed(wanted) if overlap[:, i].any()}
    forced_away = {int(overlap[:, i].argmax()) for i in spared if overlap[:, i].any()}
    matches = []
    for anchor in range(len(ANCHORS)):
        best = max(wanted, key=lambda i, a=anchor: overlap[a, i], default=None)
        greatest = 0 if best is None else overlap[anchor, best]
        other = max((max(overlap[anchor, i], 0) for i in spared), default=0)
        inside = max((share[anchor, i] for i in spared), default=0)
        if anchor in forced:
            matches.append(forced[anchor])
        elif greatest >= 0.5:
            matches.append(best)
        elif greatest >= 0.4 or other >= 0.4 or inside >= 0.5 or anchor in forced_away:
            matches.append(-2)
        else:
            matches.append(-1)
    return matches


IMAGES = [
    # Two objects, one of no anchor's size, and one outside of all anchors.
    [([1, 2, 21, 22], 2, False), ([30, 30, 36, 33], 0, False), ([90, 90, 99, 99], 1, False)],
    [],
    # A crowd, a fragment and an object within the crowd.
    [([0, 0, 40, 60], 0, True), ([50, 52, 58, 60], 1, True), ([10, 10, 28, 30], 1, False)],
    [([19, 21, 41, 40], 1, False)],
]


@pytest.mark.parametrize(("length", "dynamic"), [(3, True), (9, False)])
def test_targets_of_a_batch_padded_to_any_length(length, dynamic):
    targets = run(padded(IMAGES, length), dynamic=dynamic)
    matches = [reference(image) for image in IMAGES]
    assert targets.matches.tolist() == matches
    assert {-2, -1, 0, 1, 2} == set(np.ravel(matches))
    for name, value in zip(Targets._fields, targets, strict=True):
        assert value.dtype == (np.int32 if name == "matches" else np.float32)
    for image, row, anchor in ((i, m, a) for i, of in enumerate(matches) for a, m in enumerate(of)):
        expected = np.zeros(CLASSES)
        code = np.zeros(4)
        if row >= 0:
            box, class_, _ = IMAGES[image][row]
            expected[class_] = 1
            middle = (np.float64(box[:2]) + box[2:]) / 2 - ANCHORS[anchor].reshape([2, 2]).mean(0)
            code = [*middle / 20, *np.log((np.float64(box[2:]) - box[:2]) / 20)]
            code *= np.array(CODER.scale_factors)
        assert targets.class_targets[image, anchor].tolist() == expected.tolist()
        np.testing.assert_allclose(targets.box_targets[image, anchor], code, atol=1e-4)
    assert np.array_equal(targets.class_weights, np.not_equal(matches, -2))
    assert np.array_equal(targets.box_weights, np.greater_equal(matches, 0))


@pytest.mark.parametrize("dynamic", [True, False])
def test_a_batch_without_boxes_is_background(dynamic):
    targets = run(padded([[], []], 0), dynamic=dynamic)
    assert np.all(targets.matches == -1)
    assert targets.box_targets.shape == (2, len(ANCHORS), 4)
    assert targets.class_targets.sum() == targets.box_weights.sum() == 0
    assert np.all(targets.class_weights == 1)


def test_rotated_boxes_are_matched_by_enclosing_ones_and_background_is_first():
    box = np.float32([[[20, 21, 10, 24, 0.6]]])
    labels = padded([[(rotated.enclosing(box[0, 0], ops=np), 1, False)]], 1)
    coder = RotatedCoder()
    targets = run({**labels, "rotated_boxes": box}, coder, box_label="rotated_boxes")
    assert targets.matches[0].tolist() == reference(
        list(zip(labels["boxes"][0], [1], [False], strict=True))
    )
    anchor = int(targets.matches[0].argmax())
    decoded = compute(
        lambda code: coder.decode(code, ANCHORS[anchor]), targets.box_targets[0, anchor]
    )
    np.testing.assert_allclose(decoded, box[0, 0], rtol=1e-4)
    targets = compute(with_background, [[[0.0, 1.0], [0.0, 0.0]]])
    assert targets.tolist() == [[[0, 0, 1], [1, 0, 0]]]
