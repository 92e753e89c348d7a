"""Options of network, anchors, matching and suppression reach the parts that they are for."""

import dataclasses

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from sessions import run_initialized
from slow_cases import slow_but
from tf_frame import InputInfo, Mode
from tf_frame_detection import outputs, suppression
from tf_frame_detection.model import Detection, Params
from tf_frame_detection.networks import detector as module
from tf_frame_detection.networks.detector import Raw, detector
from tf_frame_detection.targets import assigner, matcher
from tf_frame_vision.slim_network import load_network

SIDE = 64


@pytest.fixture
def built(monkeypatch):
    """Builds the predictors on maps of zeros; returns the outputs and what the maps were given."""
    given = {}

    def maps(images, *, strides=(16, 32, 64), num_maps=3, **others):
        given.update(others, strides=strides, num_maps=num_maps)
        return [tf.zeros([1, SIDE // stride, SIDE // stride, 4]) for stride in strides[:num_maps]]

    monkeypatch.setattr(module, "pyramid", maps)
    monkeypatch.setattr(module, "ssd_maps", maps)

    def build(**options):
        given.clear()
        raw = detector(
            tf.zeros([1, SIDE, SIDE, 3]),
            params=dataclasses.replace(Params(), num_maps=3, **options),
            backbone=load_network("mobilenet_v2"),
            num_classes=2,
            code_size=4,
            is_training=True,
            batch_norm_decay=0.5,
        )
        return raw, given

    with tf.Graph().as_default():
        yield build


@pytest.mark.slow
def test_settings_of_the_layers(built):
    with tf.Graph().as_default():
        options = {"pyramid_channels": 24, "weight_decay": 0.5, "depth_multiplier": 0.3}
        _, given = built(strides=(16, 32), top_stride=32, **options)
        assert (given["strides"], given["top_stride"], given["depth"]) == ((16, 32), 32, 24)
        context, convolutions = given["context"], given["convolutions"]
        assert (context.weight_decay, context.batch_norm_decay) == (0.5, 0.5)
        assert (context.depth_multiplier, context.is_training) == (0.3, True)
        assert (convolutions.weight_decay, convolutions.batch_norm_decay) == (0.5, 0.5)
    with tf.Graph().as_default():
        _, given = built(train_batch_norm=False)
        assert not given["context"].is_training and not given["convolutions"].is_training
    # The predictor has an initial deviation of its own.
    _, given = built(predictor_stddev=0.5, predictor_layers=1, pyramid_channels=8)
    (weights,) = [v for v in tf.trainable_variables() if "BoxPredictionTower" in v.op.name][:1]
    # A normal distribution that is cut at two deviations has 0.88 of its deviation.
    assert np.std(run_initialized(weights)) == pytest.approx(0.44, abs=0.08)
    assert given["convolutions"].stddev == 0.03


@pytest.mark.parametrize(
    ("options", "of_maps", "of_predictor"),
    slow_but(
        1,
        [
            ({"use_depthwise": True}, True, True),
            ({"use_depthwise": True, "depthwise_predictor": False}, True, False),
            ({"depthwise_predictor": True}, False, True),
        ],
        several=True,
    ),
)
def test_depthwise_maps_and_predictors(built, options, of_maps, of_predictor):
    _, given = built(name="ssd", **options)
    found = any("_depthwise/" in v.op.name for v in tf.trainable_variables())
    assert (given["use_depthwise"], found) == (of_maps, of_predictor)


@pytest.mark.slow
def test_layers_and_kernels_of_the_predictor(built):
    built(predictor_layers=3, kernel_size=5, pyramid_channels=6, class_bias=0.25)
    shapes = {v.op.name.partition("/")[2]: v for v in tf.trainable_variables()}
    assert shapes["BoxPredictionTower/conv2d_2/weights"].shape == [3, 3, 6, 6]
    assert "BoxPredictionTower/conv2d_3/weights" not in shapes
    assert shapes["ClassPredictor/weights"].shape == [5, 5, 6, 2 * 3]
    np.testing.assert_array_equal(run_initialized(shapes["ClassPredictor/biases"]), 0.25)


@pytest.mark.parametrize(("loss", "bias"), [("focal", -4.6), ("sigmoid", 0)])
def test_the_bias_of_classes_depends_on_the_loss(loss, bias):
    assert module._class_bias(dataclasses.replace(Params(), classification_loss=loss)) == bias


def test_anchors_of_a_pyramid(built):
    raw, _ = built(
        strides=(16, 32), anchor_scale=3.0, scales_per_octave=2, aspect_ratios=(1.0, 4.0)
    )
    anchors = run_initialized(raw.anchors)
    height, width = anchors[:4, 2] - anchors[:4, 0], anchors[:4, 3] - anchors[:4, 1]
    np.testing.assert_allclose(height, 48 * np.array([1, 2**0.5, 0.5, 0.5**0.5]), rtol=1e-6)
    np.testing.assert_allclose(width / height, [1, 1, 4, 4], rtol=1e-6)
    assert len(anchors) == 4 * (16 + 4) == raw.codes.shape[1]


@pytest.mark.parametrize(
    ("options", "sides", "counts"),
    slow_but(
        0,
        [
            ({"min_scale": 0.3, "max_scale": 0.7}, (0.1, 0.5, 0.7), (3, 6, 6)),
            (
                {"anchor_scales": (0.4, 0.5, 0.8), "reduce_lowest_layer": False},
                (0.4, 0.5, 0.8),
                (6, 6, 6),
            ),
            ({"aspect_ratios": (1.0,)}, (0.1, 0.575, 0.95), (3, 2, 2)),
        ],
        several=True,
    ),
)
def test_anchors_of_ssd(built, options, sides, counts):
    raw, given = built(name="ssd", use_depthwise=True, **options)
    assert given["use_depthwise"] and given["num_maps"] == 3
    assert any("depthwise" in v.op.name for v in tf.trainable_variables())
    anchors, cells = run_initialized(raw.anchors), (16, 4, 1)
    assert len(anchors) == np.dot(cells, counts) == raw.logits.shape[1]
    firsts = np.cumsum([0, *np.multiply(cells, counts)[:2]])
    heights = (anchors[:, 2] - anchors[:, 0])[firsts]
    np.testing.assert_allclose(heights, np.multiply(sides, SIDE), rtol=1e-5)


def test_options_of_matching_codes_and_suppression(monkeypatch):
    seen = {}

    class Stop(Exception):
        pass

    def assign(self, anchors, labels):
        seen.update(matcher=self.matcher, coder=self.coder, label=self.box_label)
        raise Stop

    monkeypatch.setattr(assigner.Assigner, "assign_batch", assign)
    options = {
        "matched_threshold": 0.7,
        "unmatched_threshold": 0.2,
        "force_match": False,
        "box_scale_factors": (1.0, 2.0, 3.0, 4.0),
    }
    for name, label in (("retinanet", "boxes"), ("rotated_retinanet", "rotated_boxes")):
        params = dataclasses.replace(Params(), name=name, **options)
        model = Detection(params=params, info=InputInfo(num_classes=1))
        with pytest.raises(Stop):
            model._loss(Raw(None, None, None), {"boxes": None, label: None}, Mode.TRAIN)
        assert seen["label"] == label and seen["coder"].scale_factors[:4] == (1.0, 2.0, 3.0, 4.0)
        assert seen["matcher"] == matcher.ArgmaxMatcher(
            matched_threshold=0.7, unmatched_threshold=0.2, force_match=False
        )
    # Options of suppression.
    seen = {}

    def detections(boxes, scores, **options):
        seen.update(options)
        return suppression.Detections(boxes, scores[..., 0], scores[..., 0], 0, None)

    monkeypatch.setattr(outputs, "detections", detections)
    options = {"score_threshold": 0.2, "iou_threshold": 0.3, "max_per_class": 4, "max_total": 5}
    options["box_voting_iou"] = 0.7
    model = Detection(params=Params(), info=InputInfo(num_classes=2))
    with tf.Graph().as_default():
        raw = Raw(tf.zeros([1, 7, 4]), tf.zeros([1, 7, 3]), tf.zeros([7, 4]))
        size = tf.constant([[8, 9]])
        params = dataclasses.replace(Params(), **options)
        outputs.predictions(raw, size, params, coder=model._coder())
    assert seen == {**options, "by_loop": False}


@pytest.mark.parametrize(("given", "steps", "decay"), [(0.6, 10, 0.6), (None, 75, 0.75)])
def test_the_decay_of_batch_norm_fits_the_run(given, steps, decay):
    params = dataclasses.replace(Params(), batch_norm_decay=given)
    model = Detection(params=params, info=InputInfo(num_classes=1))
    model.num_steps = steps
    assert model._batch_norm_decay() == decay
    assert bool(model.notes()) == (given is None)
