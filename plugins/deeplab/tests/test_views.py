"""Averages over scales, mirror images and windows, against NumPy."""

import dataclasses

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from sessions import initialized_session, run_initialized
from tf_frame import InputInfo, Mode, layers
from tf_frame.errors import ConfigError
from tf_frame_deeplab import views
from tf_frame_deeplab.model import DeepLab, Params

pytestmark = pytest.mark.usefixtures("graph")

INFO = InputInfo(num_classes=3)
SMALL = Params(depth_multiplier=0.1, aspp_channels=8, decoder_channels=8)
RANDOM = np.random.RandomState(3)


def pointwise(images):
    """A network of stride 1 without surroundings; its weights are variables."""
    weights = tf.get_variable("w", [3, 3], initializer=tf.random_normal_initializer(seed=1))
    edge_weights = tf.get_variable("o", [3, 1], initializer=tf.random_normal_initializer(seed=2))
    return {"semantic": images / 100 @ weights, "edge": images / 100 @ edge_weights}


def softmax(logits):
    powers = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def random_images(height, width, batch=1):
    return RANDOM.uniform(0, 255, [batch, height, width, 3]).astype(np.float32)


def strided_network(images):
    """Strided, and not symmetric: columns count."""
    size = tf.shape(images)
    ramp = tf.cast(tf.range(size[2]), tf.float32)[:, tf.newaxis] / 10
    return {"semantic": (images / 100 + ramp * [1.0, -1.0, 0.3])[:, ::2, ::2]}


def test_probabilities_are_averaged_over_scales_and_mirror_images():
    pixels = random_images(9, 12)
    params = dataclasses.replace(SMALL, eval_scales=(0.5, 1.0, 1.5), add_flipped_images=True)
    images = tf.constant(pixels)
    averaged = views.averaged_logits(strided_network, images, like=images, params=params)
    # One view at a time, resized by TensorFlow, added by NumPy.
    expected = []
    for size in ([5, 6], [9, 12], [13, 17]):  # Of the scales 0.5, 1 and 1.5.
        scaled = run_initialized(layers.resize_bilinear(images, size))
        for step in (1, -1):
            view = tf.constant(np.ascontiguousarray(scaled[:, :, ::step]))
            logits = run_initialized(strided_network(view)["semantic"])
            resized = layers.resize_bilinear(tf.constant(logits[:, :, ::step].copy()), [9, 12])
            expected.append(softmax(run_initialized(resized)))
    logits = run_initialized(averaged["semantic"])
    np.testing.assert_allclose(softmax(logits), np.mean(expected, axis=0), atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("size", [(13, 22), (7, 30), (5, 6)])
def test_windows_give_what_the_whole_image_gives_if_surroundings_do_not_count(size):
    images = tf.placeholder_with_default(random_images(*size, batch=2), [None, None, None, 3])
    plain = dataclasses.replace(SMALL, eval_scales=(0.7, 1.0), add_flipped_images=True)
    cut = dataclasses.replace(plain, sliding_window=8)
    uncut = views.averaged_logits(pointwise, images, like=images, params=plain)
    with tf.variable_scope(tf.get_variable_scope(), reuse=True):
        parts = views.averaged_logits(pointwise, images, like=images, params=cut)
    assert len(tf.global_variables()) == 2
    expected, merged = run_initialized([uncut, parts])
    semantic = softmax(expected["semantic"])
    np.testing.assert_allclose(softmax(merged["semantic"]), semantic, atol=1e-5)
    np.testing.assert_allclose(merged["edge"], expected["edge"], atol=1e-5)


def test_where_windows_overlap_their_values_are_averaged():
    def window_mean(images):
        return {"mean": tf.zeros_like(images[..., :1]) + tf.reduce_mean(images)}

    pixels = random_images(1, 10)
    means = run_initialized(views.windowed(window_mean, tf.constant(pixels), 4, 0.25)["mean"])
    a, b, c = (pixels[:, :, start : start + 4].mean() for start in (0, 3, 6))
    expected = [a, a, a, (a + b) / 2, b, b, (b + c) / 2, c, c, c]
    np.testing.assert_allclose(means[0, 0, :, 0], expected, rtol=1e-5)


@pytest.mark.parametrize(
    ("size", "window", "overlap", "expected"),
    [
        (10, 4, 0.0, [0, 3, 6]),
        (8, 4, 0.0, [0, 4]),
        (9, 4, 0.5, [0, 1, 3, 5]),
        (4, 4, 0.5, [0]),
        (3, 4, 0.5, [0]),
    ],
)
def test_windows_are_evenly_spread_and_end_with_the_image(size, window, overlap, expected):
    starts = run_initialized(views.window_starts(tf.constant(size), window, overlap))
    assert starts.tolist() == expected


@pytest.mark.slow
@pytest.mark.usefixtures("short")
def test_views_share_the_variables_and_differ():
    pixels = random_images(40, 33)

    def probabilities(**options):
        with tf.variable_scope(tf.get_variable_scope(), reuse=bool(tf.global_variables())):
            params = dataclasses.replace(SMALL, **options)
            images = tf.placeholder_with_default(pixels, [None, None, None, 3])
            model = DeepLab(params=params, info=INFO)
            return model.build({"image": images}, None, Mode.PREDICT).predictions["probabilities"]

    plain = probabilities()
    names = [variable.op.name for variable in tf.global_variables()]
    several = probabilities(eval_scales=(0.5,), sliding_window=16)
    assert [variable.op.name for variable in tf.global_variables()] == names
    weights = next(v for v in tf.global_variables() if v.op.name == "logits/semantic/weights")
    with initialized_session() as session:
        session.run(tf.assign(weights, 1e7 * weights))  # else all classes are about equal
        one_view, views_mean = session.run([plain, several])
    assert one_view.shape == views_mean.shape == (1, 40, 33, 3)
    assert np.abs(one_view - views_mean).max() > 1e-3
    np.testing.assert_allclose(views_mean.sum(axis=3), 1, atol=1e-5)


@pytest.mark.slow
@pytest.mark.usefixtures("short")
def test_training_takes_no_views(monkeypatch):
    monkeypatch.setattr("tf_frame_deeplab.head_logits.averaged_logits", None)
    params = dataclasses.replace(SMALL, sliding_window=16, eval_scales=(0.5,))
    labels = {"semantic": tf.zeros([1, 32, 32], tf.int32)}
    model = DeepLab(params=params, info=INFO)
    assert model.build({"image": tf.zeros([1, 32, 32, 3])}, labels, Mode.TRAIN).loss is not None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"eval_scales": ()}, "--model.eval_scales is empty"),
        ({"colormap_type": "cityscapes"}, "has 19 colours, but there are 20 classes"),
    ],
)
def test_options_that_cannot_be_are_refused(options, message):
    with pytest.raises(ConfigError, match=message):
        DeepLab(params=Params(**options), info=InputInfo(num_classes=20))
