"""Suppression: figures of the object detection API's tests (tensorflow/models,
research/object_detection/core), a loop over boxes, and exports.
"""

import math

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame.plugin.exporting import exporting
from tf_frame_detection.boxes import rotated, rotated_numpy, upright
from tf_frame_detection.boxes.coders import FasterRcnnCoder, RotatedCoder
from tf_frame_detection.model import Params
from tf_frame_detection.networks.detector import Raw
from tf_frame_detection.outputs import predictions
from tf_frame_detection.suppression import Detections, detections

# Boxes and scores of MulticlassNonMaxSuppressionTest (post_processing_test.py).
BOXES = np.float32(
    [
        *([0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, -0.1, 1, 0.9], [0, 10, 1, 11]),
        *([0, 10.1, 1, 11.1], [0, 100, 1, 101], [0, 1000, 1, 1002], [0, 1000, 1, 1002.1]),
    ]
)
SCORES = np.float32(
    [
        *([0.9, 0.01], [0.75, 0.05], [0.6, 0.01], [0.95, 0]),
        *([0.5, 0.01], [0.3, 0.01], [0.01, 0.85], [0.01, 0.5]),
    ]
)


def run(boxes, scores, dynamic=True, **options):
    with tf.Graph().as_default(), tf.Session() as session:
        fed = [
            tf.placeholder(tf.float32, [None, None, array.shape[2]] if dynamic else array.shape)
            for array in (boxes, scores)
        ]
        found = detections(*fed, **options)
        total = options.get("max_total", 100)
        assert found.boxes.shape.as_list() == [None if dynamic else len(boxes), total, 4]
        tensors = [tensor for tensor in found if tensor is not None]
        arrays = session.run(tensors, dict(zip(fed, (boxes, scores), strict=True)))
    return Detections(*arrays, *[None] * (5 - len(arrays)))


@pytest.mark.parametrize("dynamic", [True, False])
def test_published_detections(dynamic):
    # test_multiclass_nms_select_with_shared_boxes.
    found = run(
        BOXES[None], SCORES[None], dynamic, score_threshold=0.1, iou_threshold=0.5, max_total=4
    )
    assert found.boxes[0].tolist() == BOXES[[3, 0, 6, 5]].tolist()
    np.testing.assert_allclose(found.scores, [[0.95, 0.9, 0.85, 0.3]])
    assert found.classes.tolist() == [[0, 0, 1, 0]]
    assert found.count.tolist() == [4]
    assert found.corners is None


def test_published_limit_of_a_class_and_batch():
    # test_multiclass_nms_select_with_per_class_cap.
    options = {"score_threshold": 0.1, "iou_threshold": 0.5, "max_per_class": 2, "max_total": 5}
    found = run(BOXES[None], SCORES[None], **options)
    np.testing.assert_allclose(found.scores, [[0.95, 0.9, 0.85, 0, 0]])
    assert found.classes.tolist() == [[0, 0, 1, 0, 0]]
    assert found.count.tolist() == [3]
    assert np.all(found.boxes[0, 3:] == 0)
    # test_batch_multiclass_nms_with_batch_size_2 (batch_multiclass_nms_test.py), shared boxes.
    halves = (array.reshape([2, 4, -1]) for array in (BOXES, SCORES))
    found = run(*halves, score_threshold=0.1, iou_threshold=0.5, max_total=4)
    np.testing.assert_allclose(found.scores, [[0.95, 0.9, 0, 0], [0.85, 0.5, 0.3, 0]])
    assert found.classes.tolist() == [[0, 0, 0, 0], [1, 0, 0, 0]]
    assert found.count.tolist() == [2, 3]


def random_batch(size, classes=3, boxes=60):
    generator = np.random.default_rng(9)
    center = generator.uniform(0, 60, [2, boxes, 2])
    sides = np.sort(generator.uniform(5, 40, [2, boxes, 2]))
    angle = generator.uniform(-math.pi / 2, math.pi / 2, [2, boxes, 1])
    upright_boxes = [center - sides / 2, center + sides / 2]
    parts = upright_boxes if size == 4 else [center, sides, angle]
    # Squares of random numbers, of which there are no two of the same.
    scores = generator.permutation(2 * boxes * classes).reshape([2, boxes, classes]) / 1000
    return np.float32(np.concatenate(parts, axis=2)), np.float32(scores)


def reference(overlap, scores, score_threshold, iou_threshold, max_per_class, max_total):
    """Score, class and number of each detection of an image, class by class."""
    found = []
    for class_ in range(scores.shape[1]):
        kept = []
        for box in np.argsort(-scores[:, class_]):
            free = all(overlap[box, other] <= iou_threshold for other in kept)
            if scores[box, class_] > score_threshold and free and len(kept) < max_per_class:
                kept.append(box)
        found += [(scores[box, class_], class_, box) for box in kept]
    return sorted(found, reverse=True)[:max_total]


@pytest.mark.parametrize(("size", "limits"), [(4, (5, 12)), (4, (50, 70)), (5, (7, 30))])
def test_detections_are_those_of_each_class_alone(size, limits):
    boxes, scores = random_batch(size)
    iou = upright.iou if size == 4 else rotated.iou
    options = {"score_threshold": 0.1, "iou_threshold": 0.3, "max_per_class": limits[0]}
    options["max_total"] = limits[1]
    found = run(boxes, scores, **options)
    for image in range(2):
        overlap = iou(*[np.float64(boxes[image])] * 2, ops=np)
        expected = reference(overlap, scores[image], **options)
        count = len(expected)
        assert 3 < count == found.count[image]
        np.testing.assert_array_equal(found.scores[image, :count], [s for s, _, _ in expected])
        assert found.classes[image, :count].tolist() == [c for _, c, _ in expected]
        chosen = boxes[image, [b for _, _, b in expected]]
        padding = [found.boxes, found.scores, found.classes]
        if size == 5:
            corners = rotated_numpy.corners(chosen)
            np.testing.assert_allclose(found.corners[image, :count], corners, atol=1e-4)
            chosen = np.concatenate([corners.min(axis=1), corners.max(axis=1)], axis=1)
            padding.append(found.corners)
        np.testing.assert_allclose(found.boxes[image, :count], chosen, atol=1e-4)
        assert all(np.all(part[image, count:] == 0) for part in padding)


def hostile_batch(generator, size, classes, boxes=450):
    """Boxes of four images: with ties, copies, boxes without area, few candidates, and none."""
    center = generator.uniform(0, 150, [4, boxes, 2])
    sides = np.sort(generator.uniform(0, 40, [4, boxes, 2]))
    sides *= generator.uniform(size=[4, boxes, 1]) > 0.05
    angle = generator.uniform(-math.pi / 2, math.pi / 2, [4, boxes, 1])
    parts = [center - sides / 2, center + sides / 2] if size == 4 else [center, sides, angle]
    made = np.concatenate(parts, axis=2)
    made[:, ::7] = made[:, :1]
    scores = generator.uniform(size=[4, boxes, classes])
    scores[1] = np.round(8 * scores[1]) / 8
    scores[2] *= generator.uniform(size=[boxes, classes]) > 0.9
    scores[3] *= generator.uniform(size=[boxes, classes]) > generator.uniform(0.9, 1.1)
    return np.float32(made), np.float32(scores)


@pytest.mark.parametrize(
    ("size", "classes", "limits"),
    [
        (4, 1, (100, 100)),
        pytest.param(4, 3, (5, 12), marks=pytest.mark.slow),
        pytest.param(5, 1, (100, 100), marks=pytest.mark.slow),
        (5, 3, (5, 12)),
    ],
)
def test_kernels_find_what_the_loop_finds(size, classes, limits):
    """A thousand images, with those that are slow tests."""
    generator = np.random.default_rng(size + classes)
    options = {"score_threshold": 0.1, "iou_threshold": 0.4, "candidates": 400}
    options |= {"max_per_class": limits[0], "max_total": limits[1]}
    with tf.Graph().as_default(), tf.Session() as session:
        boxes = tf.placeholder(tf.float32, [None, None, size])
        scores = tf.placeholder(tf.float32, [None, None, classes])
        found = [
            [
                each
                for each in detections(boxes, scores, by_loop=by_loop, **options)
                if each is not None
            ]
            for by_loop in (False, True)
        ]
        counts = set()
        for _ in range(63):
            batch = hostile_batch(generator, size, classes)
            by_kernel, by_loop = session.run(found, dict(zip((boxes, scores), batch, strict=True)))
            for one, other in zip(by_kernel, by_loop, strict=True):
                np.testing.assert_array_equal(one, other)
            counts |= set(by_loop[3].tolist())
    assert counts >= {0, limits[1]}


@pytest.mark.usefixtures("graph")
@pytest.mark.parametrize(
    ("format_name", "size", "option", "is_loop"),
    [
        ("", 4, "auto", False),
        ("saved_model", 5, "auto", False),
        ("onnx", 4, "auto", False),
        ("onnx", 5, "auto", True),
        ("tflite", 4, "auto", True),
        ("tflite", 4, "kernel", False),
        ("", 5, "loop", True),
    ],
)
def test_the_format_of_an_export_chooses_kernel_or_loop(format_name, size, option, is_loop):
    params = Params(suppression=option)
    raw = Raw(
        logits=tf.zeros([1, 3, 2]),
        codes=tf.zeros([1, 3, 4 if size == 4 else 6]),
        anchors=tf.ones([3, 4]),
    )
    coder = FasterRcnnCoder((1.0,) * 4) if size == 4 else RotatedCoder((1.0,) * 5)
    with exporting(format_name):
        predictions(raw, tf.constant([[9, 9]]), params, coder=coder)
    built = tf.get_default_graph().as_graph_def()
    nodes = [*built.node, *(node for each in built.library.function for node in each.node_def)]
    assert ("ArgMax" in {node.op for node in nodes}) == is_loop


def voted(box, class_, boxes, scores, threshold):
    """Mean of the boxes that overlap one of the same class, one box after the other."""
    overlap = upright.iou(box[np.newaxis], boxes, ops=np)[0]
    votes = [(scores[i, class_], boxes[i]) for i in range(len(boxes)) if overlap[i] >= threshold]
    return sum(score * other for score, other in votes) / sum(score for score, _ in votes)


@pytest.mark.slow
def test_detections_are_means_of_boxes_that_vote_within_edges_and_areas():
    boxes, scores = random_batch(4)
    limits = {"score_threshold": 0.0, "iou_threshold": 0.3, "max_per_class": 30, "max_total": 40}
    plain = run(boxes, scores, **limits)
    found = run(boxes, scores, box_voting_iou=0.4, **limits)
    np.testing.assert_array_equal(found.scores, plain.scores)
    np.testing.assert_array_equal(found.classes, plain.classes)
    assert np.any(np.abs(found.boxes - plain.boxes) > 1)
    for image in range(2):
        values = np.float64(boxes[image]), np.float64(scores[image])
        for number in range(plain.count[image]):
            box, class_ = np.float64(plain.boxes[image, number]), plain.classes[image, number]
            expected = voted(box, class_, *values, 0.4)
            np.testing.assert_allclose(found.boxes[image, number], expected, atol=1e-4)
    # Boxes that vote keep edges and areas.
    scores = np.random.default_rng(2).uniform(0.1, 1, [1, 500, 1])
    boxes = np.tile(np.float32([0.1, 0.1, 0.7, 0.7]), [1, 500, 1])
    found = run(boxes, np.float32(scores), box_voting_iou=0.5)
    assert found.boxes[0, 0].tolist() == boxes[0, 0].tolist()
    boxes = np.float32([[[3, 3, 3, 9], [0, 0, 4, 4], [0, 0, 4, 6]]])
    found = run(boxes, np.float32([[[0.9], [0.75], [0.25]]]), box_voting_iou=0.6, max_total=4)
    expected = [[3, 3, 3, 9], [0, 0, 4, 4.5], [0, 0, 0, 0], [0, 0, 0, 0]]
    np.testing.assert_allclose(found.boxes[0], expected)


def test_only_the_best_candidates_are_looked_at():
    boxes, scores = (array[:1] for array in random_batch(4))
    found = run(boxes, scores, candidates=20, max_total=60)
    least = np.sort(scores.ravel())[-21]
    overlap = upright.iou(*[np.float64(boxes[0])] * 2, ops=np)
    expected = [score for score, _, _ in reference(overlap, scores[0], least, 0.6, 60, 60)]
    assert found.scores[0, : found.count[0]].tolist() == expected


@pytest.mark.parametrize(
    ("size", "count", "dynamic"),
    [(4, 2, True), (4, 0, False), pytest.param(5, 0, True, marks=pytest.mark.slow)],
)
def test_no_boxes_and_no_detections(size, count, dynamic):
    boxes, scores = (array[:, :count] for array in random_batch(size))
    found = run(boxes, scores, dynamic, score_threshold=0.99, max_total=3)
    assert found.count.tolist() == [0, 0]
    assert found.boxes.shape == (2, 3, 4)
    assert all(np.all(part == 0) for part in found if part is not None)


@pytest.mark.slow
@pytest.mark.parametrize("size", [4, pytest.param(5, marks=pytest.mark.slow)])
def test_tensorflow_lite_has_the_same_detections(size, tmp_path):
    boxes, scores = (array[:1] for array in random_batch(size, boxes=30))
    options = {"iou_threshold": 0.3, "box_voting_iou": 0.4, "max_total": 20, "by_loop": True}
    with tf.Graph().as_default(), tf.Session() as session:
        inputs = {
            name: tf.placeholder(tf.float32, array.shape)
            for name, array in (("boxes", boxes), ("scores", scores))
        }
        found = detections(**inputs, **options)._asdict()
        outputs = {name: tensor for name, tensor in found.items() if tensor is not None}
        values = {inputs["boxes"]: boxes, inputs["scores"]: scores}
        expected = session.run(outputs, values)
        tf.saved_model.simple_save(session, str(tmp_path / "saved"), inputs, outputs)
    lite = tf.compat.v2.lite
    converter = lite.TFLiteConverter.from_saved_model(
        str(tmp_path / "saved"), signature_keys=["serving_default"]
    )
    runner = lite.Interpreter(model_content=converter.convert()).get_signature_runner()
    converted = runner(boxes=boxes, scores=scores)
    assert expected["count"] > 5
    for name, value in expected.items():
        np.testing.assert_allclose(converted[name], value, atol=1e-4)
