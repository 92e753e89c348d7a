"""Names, shapes and order of the outputs of whole networks."""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from sessions import initialized_session
from tf_frame_detection.boxes.anchors import grid_anchors
from tf_frame_detection.networks.predictors import _by_anchor

TOWER = "WeightSharedConvolutionalBoxPredictor"
FPN = "FeatureExtractor/resnet_v1_18/fpn"


@pytest.mark.slow
def test_ssdlite_has_the_variables_and_anchors_of_the_published_model(
    ssdlite, published_ssdlite, shapes_in
):
    assert shapes_in(ssdlite[0]) == published_ssdlite
    # The number of the API's published SSD models, of maps of 19, 10, 5, 3, 2 and 1 cells.
    _, raw = ssdlite
    assert raw.codes.shape == [1, 1917, 4] and raw.logits.shape == [1, 1917, 91]
    assert raw.anchors.shape[0] in (None, 1917)
    cells = np.square([19, 10, 5, 3, 2, 1])
    assert cells @ [3, 6, 6, 6, 6, 6] == 1917


@pytest.mark.slow
def test_retinanet_has_the_apis_names_and_pays_the_penalty_once(build, shapes_in):
    options = {"strides": (8, 16, 32, 64, 128), "depth_multiplier": 0.1, "pyramid_channels": 8}
    with tf.Graph().as_default() as graph:
        raw = build(
            tf.random_uniform([2, 75, 61, 3], maxval=255),
            num_classes=2,
            code_size=6,
            aspect_ratios=(1.0, 2.0, 0.5),
            **options,
        )
    variables = shapes_in(graph)
    norms = [f"BatchNorm/{part}" for part in ("gamma", "beta", "moving_mean", "moving_variance")]
    expected = {f"{FPN}/projection_{n}/{part}" for n in (1, 2, 3) for part in ("weights", "biases")}
    smooth = [f"{FPN}/{name}" for name in ("smoothing_1", "smoothing_2")]
    smooth += [f"{FPN}/bottom_up_block{n}" for n in (5, 6)]
    expected |= {f"{name}/{part}" for name in smooth for part in ("weights", *norms)}
    for part in ("Box", "Class"):
        expected |= {f"{TOWER}/{part}Predictor/{each}" for each in ("weights", "biases")}
        for layer in range(2):
            name = f"{TOWER}/{part}PredictionTower/conv2d_{layer}"
            levels = [norm.replace("/", f"/feature_{n}/") for norm in norms for n in range(5)]
            expected |= {f"{name}/{each}" for each in ("weights", *levels)}
    assert {n for n in variables if n.startswith((FPN, TOWER))} == expected
    assert variables[f"{TOWER}/BoxPredictor/weights"] == [3, 3, 8, 2 * 3 * 6]
    assert variables[f"{TOWER}/ClassPredictor/weights"] == [3, 3, 8, 2 * 3 * 3]
    losses = graph.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)
    weights = [name for name in variables if name.endswith("/weights")]
    assert len(losses) == len(weights)
    # Every anchor has a code and logits on an odd size.
    with initialized_session(graph) as session:
        found = session.run(raw)
    cells = sum(-(-75 // s) * -(-61 // s) for s in (8, 16, 32, 64, 128))
    assert [each.shape for each in found] == [(2, 6 * cells, 6), (2, 6 * cells, 3), (6 * cells, 4)]
    # The prior of objects is 0.01.
    assert 1 / (1 + np.exp(-found.logits.mean())) == pytest.approx(0.01, rel=0.5)


def test_codes_are_in_the_order_of_the_anchors():
    """A map whose values are the position and number of the anchor, as codes of two numbers."""
    rows, columns, shapes = np.meshgrid(np.arange(2), np.arange(3), np.arange(2), indexing="ij")
    values = np.stack([rows * 10 + columns, shapes], axis=-1).reshape(1, 2, 3, 4)
    with tf.Graph().as_default(), tf.Session() as session:
        codes = _by_anchor(tf.constant(values, tf.float32), 2)
        anchors = grid_anchors(
            (2, 3), scales=(1.0, 2.0), aspect_ratios=(1.0,), base_size=(4, 4), stride=(16, 16)
        )
        codes, anchors = session.run([codes[0], anchors])
    centers = (anchors[:, :2] + anchors[:, 2:]) / 2
    np.testing.assert_array_equal(codes[:, 0], centers @ [10 / 16, 1 / 16])
    np.testing.assert_array_equal(codes[:, 1], (anchors[:, 2] - anchors[:, 0]) / 4 - 1)


@pytest.mark.parametrize("name", ["ssd", "retinanet"])
@pytest.mark.slow
def test_any_backbone_and_unknown_sizes_will_do(build, name):
    for backbone in ("inception_v2", "resnet_v2_50", "mobilenet_v3_small", "xception_41"):
        with tf.Graph().as_default():
            images = tf.placeholder(tf.float32, [None, None, None, 3])
            raw = build(images, num_classes=1, name=name, backbone=backbone, depth_multiplier=1.0)
            with initialized_session() as session:
                found = session.run(raw, {images: np.zeros([1, 97, 130, 3])})
            assert len({each.shape[-2] for each in found}) == 1


@pytest.mark.slow
def test_pyramids_on_published_backbones_have_the_apis_names(build, shapes_in):
    for backbone, name in (
        ("mobilenet_v1", "MobilenetV1/fpn/bottom_up_Conv2d_15"),
        ("mobilenet_v2", "MobilenetV2/fpn/bottom_up_Conv2d_21"),
        ("resnet_v1_50", "resnet_v1_50/fpn/bottom_up_block6"),
    ):
        with tf.Graph().as_default() as graph:
            build(
                tf.zeros([1, 128, 128, 3]),
                backbone=backbone,
                depth_multiplier=1.0,
                strides=(8, 16, 32, 64, 128),
            )
        assert f"FeatureExtractor/{name}/weights" in shapes_in(graph)


@pytest.mark.slow
def test_ssd_on_mobilenet_v1_has_the_apis_extra_layers(build, shapes_in):
    with tf.Graph().as_default() as graph:
        build(
            tf.zeros([1, 300, 300, 3]),
            name="ssd",
            backbone="mobilenet_v1",
            depth_multiplier=1.0,
            kernel_size=1,
        )
    variables = shapes_in(graph)
    scope = "FeatureExtractor/MobilenetV1/Conv2d_13_pointwise"
    assert variables[f"{scope}_1_Conv2d_2_1x1_256/weights"] == [1, 1, 1024, 256]
    assert variables[f"{scope}_2_Conv2d_5_3x3_s2_128/weights"] == [3, 3, 64, 128]
    assert variables["BoxPredictor_0/ClassPredictor/weights"] == [1, 1, 512, 3 * 91]
