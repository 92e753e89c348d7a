import numpy as np

from tf_frame_detection.evaluation.images import Found, Image, Truth
from tf_frame_detection.evaluation.matching import THRESHOLDS, match_coco
from tf_frame_detection.evaluation.overlaps import upright_overlaps


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
