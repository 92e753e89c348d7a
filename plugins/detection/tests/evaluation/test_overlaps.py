import numpy as np

from tf_frame_detection.boxes import rotated_numpy
from tf_frame_detection.evaluation.overlaps import rotated_overlaps, upright_overlaps

CROWD = np.array([False, True])


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
    beside = np.array([[10.0, 12, 4, 4, 0]])
    shares = rotated_overlaps(beside, np.array([[10.0, 10, 4, 4, 0]] * 2), CROWD)
    np.testing.assert_allclose(shares, [[1 / 3, 0.5]])
    none, crowd = np.zeros(0, bool), np.array([True])
    assert upright_overlaps(np.ones([1, 4]), np.zeros([0, 4]), none).shape == (1, 0)
    assert rotated_overlaps(np.ones([1, 5]), np.zeros([0, 5]), none).shape == (1, 0)
    assert rotated_overlaps(np.zeros([1, 5]), np.ones([1, 5]), crowd).tolist() == [[0]]
