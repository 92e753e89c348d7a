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
    # Without the padding.
    assert picture.shape == (400, 600 + GAP, 3)
    halves = [(half == RED).all(axis=2) for half in (picture[:, :300], picture[:, 300 + GAP :])]
    for red in halves:
        # Below the caption, the edges of the box at the same place.
        rows, columns = np.nonzero(red[105:])
        ends = [rows.max() + 105, columns.min(), columns.max()]
        np.testing.assert_allclose(ends, [199.5, 99.5, 199.5], atol=1.5)


def test_pictures_have_the_aspect_of_the_file_and_those_of_a_batch_one_size():
    original = np.array([[50, 100], [100, 50], [400, 400], [1, 1]], np.int32)
    features = {**FEATURES, "image_size": np.tile([400, 400], [4, 1]), "original_size": original}
    parts = (features, LABELS, PREDICTIONS)
    with tf.Graph().as_default(), tf.Session() as session:
        tensors = [{name: tf.constant(array) for name, array in part.items()} for part in parts]
        add_pictures(*tensors, PAINTING)
        values = tf.Summary.FromString(session.run(tf.summary.merge_all())).value
    pictures = [
        np.array(Image.open(io.BytesIO(value.image.encoded_image_string))) for value in values
    ]
    assert {picture.shape for picture in pictures} == {(400, 800 + GAP, 3)}
    wide, tall, _ = ((picture == 255).all(axis=2) for picture in pictures)
    assert wide[200:].all() and not wide[:200, 400 + GAP :].all(axis=1).any()
    assert tall[:, 400 + GAP :].all() and not tall[:, : 400 + GAP].all(axis=1).any()
    # The box of the truth, 100 to 200 of 400 pixels, is half as high in the wide picture.
    rows = np.nonzero((pictures[0][:, :400] == RED).all(axis=2)[:, 190:200])[0]
    np.testing.assert_allclose(rows.max(), 99.5, atol=1.5)
