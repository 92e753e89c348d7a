"""Hard anchors: figures of the object detection API's tests (tensorflow/models,
research/object_detection/core/losses_test.py, HardExampleMinerTest).
"""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame.errors import ConfigError
from tf_frame_detection.losses.mining import HardExampleMiner

BOX_LOSSES = np.float32([[100, 90, 80, 0], [0, 1, 2, 3]])
CLASS_LOSSES = np.float32([[0, 10, 50, 110], [9, 6, 3, 0]])
SAME = np.float32([[[0.1, 0.1, 0.9, 0.9]] * 4] * 2)


def run(miner, class_losses, box_losses, boxes, matches=None):
    """Chosen anchors, and the sums of their losses: of boxes and of classes."""
    matches = np.zeros(class_losses.shape, np.int32) if matches is None else np.int32(matches)
    arrays = (class_losses, box_losses, boxes, matches)
    with tf.Graph().as_default(), tf.Session() as session:
        fed = [tf.placeholder(a.dtype, [None] * a.ndim) for a in arrays]
        chosen = session.run(miner(*fed), dict(zip(fed, arrays, strict=True)))
    assert chosen.shape == class_losses.shape
    assert chosen.dtype == np.float32
    return chosen, ((chosen * box_losses).sum(), (chosen * class_losses).sum())


@pytest.mark.parametrize(("kind", "sums"), [("box", (103, 0)), ("both", (80, 59))])
def test_published_sums_of_the_hardest_anchor(kind, sums):
    # testHardMiningWithSingleLossType, testHardMiningWithBothLossType.
    miner = HardExampleMiner(
        num_hard_examples=1,
        iou_threshold=0.0,
        loss_type=kind,
        class_loss_weight=1,
        box_loss_weight=1,
    )
    assert run(miner, CLASS_LOSSES, BOX_LOSSES, SAME)[1] == sums


def test_published_sums_with_suppression_and_few_anchors():
    # testHardMiningNMS: the second box is far from the others.
    boxes = SAME.copy()
    boxes[:, 1] = [0.9, 0.9, 0.99, 0.99]
    miner = HardExampleMiner(num_hard_examples=2, iou_threshold=0.5, loss_type="class")
    assert run(miner, CLASS_LOSSES, BOX_LOSSES, boxes)[1] == (91, 135)
    # Anchors may be few and types of loss are known.
    for threshold in (0.7, 1.0):
        chosen, _ = run(
            HardExampleMiner(iou_threshold=threshold), CLASS_LOSSES, BOX_LOSSES, SAME * 0
        )
        assert np.all(chosen == 1)
    with pytest.raises(ConfigError, match="'cls' is not known; choose one of both, class, box"):
        HardExampleMiner(loss_type="cls")


# Twelve anchors of testEnforceNegativesPerPositiveRatio; half of the boxes are the same.
MANY_BOX = np.float32([[100, 90, 80, 0, 1, 2, 3, 10, 20, 100, 20, 3]])
MANY_CLASS = np.float32([[0, 0, 100, 0, 90, 70, 0, 60, 0, 17, 13, 0]])
HEIGHTS = [0.2, 0.2, 0.2, 0.2, 0.5, 0.6, 0.2, 0.8, 0.2, 1.0, 1.1, 0.2]
MANY_BOXES = np.float32([[[0, 0, height, 0.1] for height in HEIGHTS]])
MATCHES = [[2, -1, 0, -1, -1, 1, -1, -1, -1, -1, -1, 3]]


BACKGROUND = [[-1] * 12]


@pytest.mark.parametrize(
    ("matches", "ratio", "least", "box", "classes"),
    [
        (MATCHES, 0.0, 0, 80 + 2, 100 + 70),
        (MATCHES, 1.5, 0, 80 + 1 + 2 + 10 + 100, 100 + 90 + 70 + 60 + 17),
        (MATCHES, 10, 0, 80 + 1 + 2 + 10 + 100 + 20, 100 + 90 + 70 + 60 + 17 + 13),
        # testEnforceNegativesPerPositiveRatioWithMinNegativesPerImage.
        (BACKGROUND, 3, 0, 0, 0),
        (BACKGROUND, 3, 4, 93, 320),
        (BACKGROUND, 3, 6, 213, 350),
    ],
)
def test_published_sums_with_negatives(matches, ratio, least, box, classes):
    miner = HardExampleMiner(
        num_hard_examples=0,
        iou_threshold=0.9999,
        loss_type="class",
        max_negatives_per_positive=ratio,
        min_negatives_per_image=least,
    )
    assert run(miner, MANY_CLASS, MANY_BOX, MANY_BOXES, matches)[1] == (box, classes)


def test_ssd_keeps_three_negatives_per_positive_of_each_image():
    generator = np.random.default_rng(1)
    losses = np.float32(generator.permutation(100).reshape([4, 25]))
    matches = np.full([4, 25], -1)
    matches[1, [3, 8]], matches[2, 5], matches[3] = 0, 1, 0
    matches[0, :10] = matches[1, -2:] = -2
    miner = HardExampleMiner(
        num_hard_examples=0, iou_threshold=1.0, loss_type="class", max_negatives_per_positive=3
    )
    chosen, _ = run(miner, losses, 0 * losses, np.zeros([4, 25, 4], np.float32), matches)
    for image in range(4):
        negatives = np.flatnonzero(matches[image] == -1)
        positives = np.flatnonzero(matches[image] >= 0)
        hardest = negatives[np.argsort(-losses[image, negatives])][: 3 * len(positives)]
        expected = np.sort(np.concatenate([positives, hardest]))
        assert np.flatnonzero(chosen[image]).tolist() == expected.tolist()
