import numpy as np

from tf_frame_detection.boxes import rotated_numpy
from tf_frame_detection.evaluation.images import Found, Image, Truth
from tf_frame_detection.evaluation.matching import (
    THRESHOLDS,
    match_coco,
    rotated_overlaps,
    upright_overlaps,
)

CROWD = np.array([False, True])


def match(boxes, found, ignored=False, crowd=False):
    """Numbers of the boxes of detections in falling order, `[thresholds, n]`."""
    count = len(boxes)
    flags = [np.broadcast_to(each, [count]) for each in (ignored, crowd)]
    truth = Truth(np.array(boxes, float), np.zeros(count, int), *flags)
    scores = np.arange(len(found), 0, -1)
    detections = Found(np.array(found, float), scores, np.zeros(len(found), int))
    return match_coco(Image(truth, detections), upright_overlaps)[1]


def test_the_last_of_equal_boxes_that_count_is_taken():
    """As in pycocotools; the detections overlap both boxes by two thirds."""
    boxes, found = [(0, 0, 10, 10), (0, 4, 10, 14)], [(0, 2, 10, 12)] * 3
    assert match(boxes, found)[0].tolist() == [1, 0, -1]
    boxes, found = [(0, 0, 10, 10), (0, 2, 10, 12)], [(0, 0, 10, 10)]
    matches = match(boxes, found, ignored=[True, False])[:, 0]
    # The IoU with the other box is 2 / 3.
    assert matches.tolist() == [1 if threshold < 2 / 3 else 0 for threshold in THRESHOLDS]


def test_overlaps_with_crowds_polygons_and_nothing():
    found, boxes = np.array([[0.0, 0, 2, 5]]), np.array([[0.0, 2, 6, 7]] * 2)
    # The intersection is 6, of areas 10 and 30.
    np.testing.assert_allclose(upright_overlaps(found, boxes, CROWD), [[6 / 34, 0.6]])
    # A square within the same one turned by an eighth, and twice as large.
    found = np.array([[10.0, 10, 4, 4, 0]])
    boxes = np.array([[10.0, 10, 8, 8, np.pi / 4]] * 2)
    iou = rotated_numpy.iou(found, boxes)[0, 0]
    assert 0.2 < iou <= 0.25
    np.testing.assert_allclose(rotated_overlaps(found, boxes, CROWD), [[0.25, 1.0]])
    neighbour = np.array([[10.0, 12, 4, 4, 0]])
    shares = rotated_overlaps(neighbour, np.array([[10.0, 10, 4, 4, 0]] * 2), CROWD)
    np.testing.assert_allclose(shares, [[1 / 3, 0.5]])
    none, crowd = np.zeros(0, bool), np.array([True])
    assert upright_overlaps(np.ones([1, 4]), np.zeros([0, 4]), none).shape == (1, 0)
    assert rotated_overlaps(np.ones([1, 5]), np.zeros([0, 5]), none).shape == (1, 0)
    assert rotated_overlaps(np.zeros([1, 5]), np.ones([1, 5]), crowd).tolist() == [[0]]
