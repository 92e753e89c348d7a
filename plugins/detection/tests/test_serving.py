"""Exported detectors take image files of any size, and give boxes as shares of the file's image."""

import dataclasses
import io

import numpy as np
import pytest
import tensorflow.compat.v1 as tf
from PIL import Image

from slow_cases import slow_but
from tf_frame import InputInfo, Mode
from tf_frame_detection.boxes.coders import FasterRcnnCoder, RotatedCoder
from tf_frame_detection.inputs.trees import Params as TreesParams, Trees
from tf_frame_detection.model import Detection, Params
from tf_frame_detection.networks.detector import Raw

INFO = InputInfo(num_classes=1, class_names=("Tree",), class_ids=(7,))
SIDE = 64
# Height and width of files, and the bright box in each as shares of both.
SIZES = [(120, 240), (240, 80), (50, 50)]
BOX = np.array([0.2, 0.5, 0.6, 0.75])


def photograph(height, width):
    """A PNG file that is black except for the box."""
    pixels = np.zeros([height, width, 3], np.uint8)
    upper, left, lower, right = (BOX * [height, width, height, width]).round().astype(int)
    pixels[upper:lower, left:right] = 255
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "PNG")
    return file.getvalue()


def bright_boxes(images):
    """The boxes around the bright pixels of images, `[batch, 1, 4]`: a detector without errors."""
    bright = images[..., 0] > 127
    edges = []
    for axis in (2, 1):
        present = tf.cast(tf.reduce_any(bright, axis), tf.int32)
        first = tf.argmax(present, axis=1, output_type=tf.int32)
        edges.append((first, first + tf.reduce_sum(present, axis=1)))
    (upper, lower), (left, right) = edges
    return tf.cast(tf.stack([upper, left, lower, right], axis=-1)[:, tf.newaxis], tf.float32)


def make_raw(images, mode):
    del mode
    anchors = tf.constant([[0.0, 0.0, SIDE, SIDE]])
    codes = FasterRcnnCoder().encode(bright_boxes(images), anchors)
    return Raw(codes, tf.fill([tf.shape(images)[0], 1, 2], 3.0), anchors)


def make_rotated_raw(images, mode):
    del mode
    anchors = tf.constant([[0.0, 0.0, SIDE, SIDE]])
    upper, left, lower, right = tf.unstack(bright_boxes(images), axis=-1)
    # As height and width, with no angle, the coder makes the longer side the width.
    boxes = [(upper + lower) / 2, (left + right) / 2, lower - upper, right - left, 0 * upper]
    codes = RotatedCoder().encode(tf.stack(boxes, axis=-1), anchors)
    return Raw(codes, tf.fill([tf.shape(images)[0], 1, 2], 3.0), anchors)


def served(keep_aspect_ratio, monkeypatch, **options):
    """Outputs of the signature that takes files, for one of each size."""
    params = dataclasses.replace(Params(), max_total=2, **options)
    model = Detection(params=params, info=INFO)
    monkeypatch.setattr(model, "_raw", make_rotated_raw if model.rotated else make_raw)
    sizes = TreesParams(image_size=(SIDE,), keep_aspect_ratio=keep_aspect_ratio)
    form = Trees(params=sizes, info=INFO).raw_serving()["encoded"]
    with tf.Graph().as_default(), tf.Session() as session:
        files = tf.constant([photograph(*size) for size in SIZES])
        built = model.build(form.features({"image_bytes": files}), None, Mode.PREDICT)
        return session.run(dict(built.exports["serving_default"]))


@pytest.mark.parametrize("keep_aspect_ratio", slow_but(1, [False, True]))
def test_boxes_are_shares_of_files_of_any_size(keep_aspect_ratio, monkeypatch):
    found = served(keep_aspect_ratio, monkeypatch)
    np.testing.assert_array_equal(found["num_detections"], [1, 1, 1])
    np.testing.assert_array_equal(found["detection_classes"][:, 0], [7, 7, 7])
    # A pixel of the network's image; the narrow side of a photograph has fewer.
    for size, box in zip(SIZES, found["detection_boxes"][:, 0], strict=True):
        sides = np.array([*size, *size])
        pixels = SIDE * sides / sides.max() if keep_aspect_ratio else np.full(4, SIDE)
        assert (np.abs(box - BOX) <= 1.0 / pixels + 1e-5).all(), (size, box)


def test_images_are_resized_as_for_predictions():
    """As TensorFlow 1 does, where the model asks for that."""
    source = Trees(params=TreesParams(image_size=(SIDE,), resizing="legacy"), info=INFO)
    pixels = np.random.RandomState(0).randint(0, 256, [50, 90, 3]).astype(np.uint8)
    with tf.Graph().as_default(), tf.Session() as session:
        form = source.raw_serving()["pixels"]
        served = form.features({"image": tf.constant(pixels[np.newaxis])})["image"]
        predicted = source.image_features(tf.constant(pixels))["image"]
        expected = tf.image.resize_bilinear(pixels[np.newaxis], [SIDE, SIDE])
        served, predicted, expected = session.run([served, predicted, expected])
    np.testing.assert_array_equal(served, expected)
    np.testing.assert_array_equal(predicted, expected[0])


@pytest.mark.slow
def test_corners_are_shares_too(monkeypatch):
    found = served(True, monkeypatch, name="rotated_retinanet")
    corners = found["detection_corners"][:, 0]
    enclosing = np.concatenate([corners.min(1), corners.max(1)], axis=-1)
    np.testing.assert_allclose(enclosing, found["detection_boxes"][:, 0], atol=1e-5)
    for size, box in zip(SIZES, enclosing, strict=True):
        sides = np.array([*size, *size])
        assert (np.abs(box - BOX) <= sides.max() / (SIDE * sides) + 1e-5).all(), (size, box)


@pytest.mark.slow
@pytest.mark.parametrize("name", slow_but(0, ["retinanet", "rotated_retinanet"]))
def test_raw_exports_have_a_box_for_each_anchor(name, monkeypatch):
    found = served(False, monkeypatch, name=name, export_raw=True)
    assert found["raw_detection_scores"].shape == (3, 1, 1)
    np.testing.assert_allclose(found["raw_detection_scores"], 1 / (1 + np.exp(-3)), rtol=1e-5)
    boxes = found["raw_detection_boxes"]
    np.testing.assert_allclose(boxes, np.tile(BOX, (3, 1, 1)), atol=1.01 / SIDE)
    if name == "rotated_retinanet":
        corners = found["raw_detection_corners"]
        np.testing.assert_allclose(corners.min(2), boxes[..., :2], atol=1e-5)
        np.testing.assert_allclose(corners.max(2), boxes[..., 2:], atol=1e-5)
