import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame import Input, InputInfo, Model, ModelOutput
from tf_frame.config.run_options import RunOptions
from tf_frame.runs.evaluation.evaluator import Evaluator
from tf_frame_detection.evaluation.figures import Figures
from tf_frame_detection.evaluation.metrics import detection_metrics

INFO = InputInfo(num_classes=3, class_names=("a", "b", "c"))


def padded(parts, value=0):
    """The arrays of a batch as one, of the length of the longest."""
    longest = max(len(part) for part in parts)
    result = np.full([len(parts), longest, *parts[0].shape[1:]], value, parts[0].dtype)
    for row, part in zip(result, parts, strict=True):
        row[: len(part)] = part
    return result


def fed(images, fed_size=(100, 50), size=(200, 200)):
    """Labels, predictions and features of a batch as a model has them.

    The images have been resized, and padded afterwards.
    """
    scale = np.tile(np.array(fed_size) / size, 2)
    truth, found = ([image[part] for image in images] for part in (0, 1))
    labels = {
        "boxes": padded([(each.boxes * scale).astype(np.float32) for each in truth]),
        "classes": padded([each.classes.astype(np.int32) for each in truth], -1),
        "ignored": padded([each.ignored for each in truth]),
        "crowd": padded([each.crowd for each in truth]),
    }
    predictions = {
        "detection_boxes": padded(
            [(each.boxes / np.tile(size, 2)).astype(np.float32) for each in found]
        ),
        "detection_scores": padded([each.scores.astype(np.float32) for each in found]),
        "detection_classes": padded([each.classes.astype(np.int32) for each in found]),
        "num_detections": np.array([len(each.boxes) for each in found], np.int32),
    }
    sizes = {"image_size": fed_size, "original_size": size}
    features = {name: np.tile(np.int32(value), [len(images), 1]) for name, value in sizes.items()}
    return labels, predictions, features


class Graph:
    """A graph with the metrics, whose batches are fed."""

    def __init__(self, parts, **settings):
        with tf.Graph().as_default() as self.graph:
            self.inputs = [
                {
                    name: tf.placeholder(array.dtype, [None] * array.ndim)
                    for name, array in part.items()
                }
                for part in parts
            ]
            metrics = detection_metrics(*self.inputs, info=INFO, **settings)
            self.values = {name: value for name, (value, _) in metrics.items()}
            self.updates = [update for _, update in metrics.values()]
            self.reset = tf.local_variables_initializer()

    def evaluate(self, session, batches):
        session.run(self.reset)
        for parts in batches:
            feeds = {
                tensor: array
                for tensors, arrays in zip(self.inputs, parts, strict=True)
                for tensor, array in zip(tensors.values(), arrays.values(), strict=True)
            }
            session.run(self.updates, feeds)
        return session.run(self.values)


@pytest.fixture(scope="module")
def graph(random_cases):
    return Graph(fed(random_cases[1][:1]), voc=True)


def expected(images):
    figures = Figures(class_names=INFO.class_names, voc=True)
    return figures.compute(images)


def batches(images, size):
    return [fed(images[start : start + size]) for start in range(0, len(images), size)]


def test_figures_are_those_of_all_batches_in_each_evaluation(graph, random_cases):
    """The second evaluation goes on in the session, the third begins another one."""
    first, second = random_cases[1], random_cases[2]
    with tf.Session(graph=graph.graph) as session:
        found = graph.evaluate(session, batches(first, 5))
        assert found == pytest.approx(expected(first), abs=1e-6)
        again = graph.evaluate(session, batches(second, 4))
        assert again == pytest.approx(expected(second), abs=1e-6)
    assert found["ap50"] != pytest.approx(again["ap50"], abs=1e-3)
    with tf.Session(graph=graph.graph) as session:
        third = graph.evaluate(session, batches(first, 12))
    assert third == pytest.approx(found)


class Source(Input):
    """Batches of four images."""

    def __init__(self, images):
        self.parts = fed(images)

    def dataset(self, mode, context):
        labels, predictions, features = self.parts
        data = tf.data.Dataset.from_tensor_slices(({**features, **predictions}, labels))
        return data.batch(4)


class Seer(Model):
    """Predicts what the input says."""

    def build(self, features, labels, mode):
        score = tf.get_variable("score", [], initializer=tf.zeros_initializer())
        metrics = detection_metrics(labels, features, features, info=INFO, voc=True)
        return ModelOutput(loss=score, predictions=features, metrics=metrics)


@pytest.mark.slow
def test_the_evaluator_keeps_its_session(random_cases, caplog):
    images = random_cases[1]
    evaluator = Evaluator(
        model=Seer(params=None, info=INFO), source=Source(images), config=RunOptions()
    )
    with caplog.at_level("INFO", "tf_frame"):
        found = [evaluator.evaluate(None).metrics for _ in range(3)]
    evaluator.close()
    assert "new session" not in caplog.text
    wanted = expected(images)
    for metrics in found:
        assert {name: metrics[name] for name in wanted} == pytest.approx(wanted, abs=1e-6)


def test_two_metrics_in_a_graph_do_not_mix(random_cases):
    """Each of two towers collects its own batches."""
    images = random_cases[1]
    with tf.Graph().as_default(), tf.Session() as session:
        parts = [
            [{name: tf.constant(array) for name, array in part.items()} for part in fed(half)]
            for half in (images[:6], images[6:])
        ]
        towers = [detection_metrics(*part, info=INFO) for part in parts]
        session.run(tf.local_variables_initializer())
        session.run([update for tower in towers for _, update in tower.values()])
        found = [session.run(tower["ap50"][0]) for tower in towers]
    halves = [expected(half)["ap50"] for half in (images[:6], images[6:])]
    assert found == pytest.approx(halves, abs=1e-6)


def test_batches_without_boxes_and_detections(graph, random_cases):
    images = random_cases[1]
    nothing = [images[0].select_class(7)] * 2
    with tf.Session(graph=graph.graph) as session:
        found = graph.evaluate(session, [fed(nothing), fed(images), fed(nothing)])
    assert found == pytest.approx(expected(images), abs=1e-6)


def test_rotated_boxes_have_an_error_of_the_angle():
    """The image is fed in half its size; detections are not turned, boxes are, by 10 and -4."""
    labels = {
        "rotated_boxes": np.array(
            [[[25, 10, 4, 8, 10], [25, 40, 4, 8, 176], [5, 5, 4, 8, 0], [0, 0, 0, 0, 0]]],
            np.float32,
        ),
        "classes": np.array([[0, 0, 0, -1]], np.int32),
        "ignored": np.array([[False, False, True, False]]),
        "crowd": np.zeros([1, 4], bool),
    }
    labels["rotated_boxes"][..., 4] = np.radians(labels["rotated_boxes"][..., 4])
    corners = np.array([[-4, -8], [-4, 8], [4, 8], [4, -8]])
    centres = np.array([[50, 20], [50, 80], [0, 0]])
    predictions = {
        "detection_corners": np.float32(centres[:, np.newaxis] + corners)[np.newaxis] / 100,
        "detection_scores": np.array([[0.9, 0.8, 0]], np.float32),
        "detection_classes": np.zeros([1, 3], np.int32),
        "num_detections": np.array([2], np.int32),
    }
    features = {"image_size": np.array([[50, 50]]), "original_size": np.array([[100, 100]])}
    parts = labels, predictions, features
    graph = Graph(parts, rotated=True)
    with tf.Session(graph=graph.graph) as session:
        found = graph.evaluate(session, [parts])
    assert found["ap50"] == 1
    assert found["angle_error"] == pytest.approx(7, abs=1e-3)
    assert found["boxes_a"] == 2
    assert "aps" not in found
