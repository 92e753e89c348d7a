import io

import numpy as np
import pytest
import tensorflow.compat.v1 as tf
from PIL import Image

from tf_frame import InputInfo
from tf_frame_detection.evaluation.painting import Painting
from tf_frame_detection.evaluation.summaries import add_pictures

RED, GAP = (255, 0, 0), 8
PAINTING = Painting.of(InputInfo(num_classes=1, class_names=("tree",), class_colours=(RED,)), 0.3)
# Images of 400 x 300 pixels, padded to 400 x 400, and four of them, of which three are shown.
FEATURES = {
    "image": np.full([4, 400, 400, 3], 90, np.float32),
    "image_size": np.tile([400, 300], [4, 1]),
}
LABELS = {
    "boxes": np.tile(np.float32([[100, 100, 200, 200]]), [4, 1, 1]),
    "rotated_boxes": np.tile(np.float32([[150, 150, 100, 100, -np.pi / 2]]), [4, 1, 1]),
    "classes": np.zeros([4, 1], np.int32),
    "ignored": np.zeros([4, 1], bool),
}
BOX = np.float32([0.25, 1 / 3, 0.5, 2 / 3])
PREDICTIONS = {
    "detection_boxes": np.tile(BOX, [4, 2, 1]),
    "detection_corners": np.tile(BOX[[[0, 1], [0, 3], [2, 3], [2, 1]]], [4, 2, 1, 1]),
    "detection_scores": np.tile(np.float32([0.9, 0]), [4, 1]),
    "detection_classes": np.zeros([4, 2], np.int32),
}


@pytest.mark.parametrize("rotated", [False, True])
def test_boxes_are_left_and_detections_right(rotated):
    parts = (FEATURES, LABELS, PREDICTIONS)
    with tf.Graph().as_default(), tf.Session() as session:
        tensors = [{name: tf.constant(array) for name, array in part.items()} for part in parts]
        add_pictures(*tensors, PAINTING, rotated=rotated)
        values = tf.Summary.FromString(session.run(tf.summary.merge_all())).value
    assert [value.tag for value in values] == [f"truth_and_detections/image/{i}" for i in range(3)]
    picture = np.array(Image.open(io.BytesIO(values[0].image.encoded_image_string)))
    assert picture.shape == (400, 800 + GAP, 3)
    halves = [(half == RED).all(axis=2) for half in (picture[:, :400], picture[:, 400 + GAP :])]
    for red in halves:
        # Below the caption, the edges of the box at the same place.
        rows, columns = np.nonzero(red[105:])
        ends = [rows.max() + 105, columns.min(), columns.max()]
        np.testing.assert_allclose(ends, [199.5, 99.5, 199.5], atol=1.5)
