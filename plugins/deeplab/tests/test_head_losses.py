"""Losses of the heads against NumPy."""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from sessions import run_initialized
from tf_frame_deeplab import losses
from tf_frame_deeplab.heads import HeadParams

pytestmark = pytest.mark.usefixtures("graph")

RANDOM = np.random.RandomState(0)
LOGITS = RANDOM.normal(size=[2, 3, 4, 3]).astype(np.float32)
LABELS = RANDOM.choice([0, 1, 2, 255], size=[2, 3, 4]).astype(np.int32)


def entropy(weights=(1, 1, 1)):
    """Loss of each pixel, 0 for ignored ones."""
    losses = np.zeros(LABELS.shape)
    for place in np.ndindex(LABELS.shape):
        label, logits = LABELS[place], LOGITS[place].astype(np.float64)
        if label != 255:
            losses[place] = weights[label] * (np.log(np.exp(logits).sum()) - logits[label])
    return losses


def mean(loss):
    return run_initialized(loss.mean())


@pytest.mark.parametrize("share", [0.25, 0.5, 0.9])
def test_hard_pixels_are_those_of_the_greatest_loss(share):
    loss = mean(losses.semantic_loss(LOGITS, LABELS, 255, hard_pixels=share))
    hardest = np.sort(entropy().ravel())[::-1][: int(np.float32(24) * np.float32(share))]
    assert loss == pytest.approx(hardest.sum() / (hardest > 0).sum(), rel=1e-5)


def test_weighted_pixels_are_a_mean_and_ignored_pixels_alone_have_no_loss():
    weights = (0.5, 1.0, 3.0)
    loss = mean(losses.semantic_loss(LOGITS, LABELS, 255, class_weights=weights))
    assert loss == pytest.approx(entropy(weights).sum() / (LABELS != 255).sum(), rel=1e-5)
    loss = mean(losses.semantic_loss(LOGITS, LABELS, 255))
    assert loss == pytest.approx(entropy().sum() / (LABELS != 255).sum(), rel=1e-5)
    nothing = np.full_like(LABELS, 255)
    for share in (1.0, 0.5):
        assert mean(losses.semantic_loss(LOGITS, nothing, 255, hard_pixels=share)) == 0


def test_the_share_of_hard_pixels_falls_from_all_in_a_line():
    step = tf.train.get_or_create_global_step()
    share = losses.hard_pixel_share(0.2, 10)
    with tf.Session() as session:
        shares = []
        for number in (0, 5, 10, 1000):
            session.run(tf.assign(step, number))
            shares.append(session.run(share))
    assert shares == pytest.approx([1.0, 0.6, 0.2, 0.2])
    assert losses.hard_pixel_share(0.2, 0) == 0.2


def test_losses_of_instances_are_over_the_pixels_near_a_centre_or_of_instances():
    heat, labels = RANDOM.normal(size=[2, 2, 5, 4, 1]).astype(np.float32)
    labels = np.maximum(labels, 0)
    counts = RANDOM.uniform(size=[2, 5, 4]) < 0.7
    loss = mean(losses.center_loss(heat, labels, counts))
    squares = ((heat - labels)[..., 0] ** 2)[counts].sum()
    assert loss == pytest.approx(squares / (labels[..., 0][counts] > 0).sum(), rel=1e-5)
    assert mean(losses.center_loss(heat, 0 * labels, counts)) == 0
    # The loss of offsets is over the pixels of instances.
    offsets = RANDOM.normal(size=[2, 5, 4, 2]).astype(np.float32)
    labels = RANDOM.normal(size=[2, 5, 4, 3]).astype(np.float32)
    labels[..., 2] = RANDOM.uniform(size=[2, 5, 4]) < 0.5
    inside = labels[..., 2] == 1
    expected = np.abs(offsets - labels[..., :2])[inside].sum() / inside.sum()
    assert mean(losses.offset_loss(offsets, labels)) == pytest.approx(expected, rel=1e-5)
    assert mean(losses.offset_loss(offsets, 0 * labels)) == 0


def test_the_terms_of_single_images_add_up_to_the_terms_of_their_batch():
    """So an evaluation has the same loss with every batch size, also with an image of void."""
    names = ("semantic", "edge", "instance_center", "instance_offset")
    params = HeadParams(heads=names, class_weights=(0.5, 1.0, 3.0))
    channels = {"semantic": 3, "edge": 2, "instance_center": 1, "instance_offset": 2}
    logits = {n: RANDOM.normal(size=[2, 3, 4, c]).astype(np.float32) for n, c in channels.items()}
    labels = {
        "semantic": np.stack([LABELS[0], np.full_like(LABELS[0], 255)]),
        "edge": RANDOM.choice([0, 1, 255], size=[2, 3, 4]).astype(np.int32),
        "instance_center": RANDOM.choice([0, 0.5, 1], size=[2, 3, 4, 1]).astype(np.float32),
        "instance_offset": RANDOM.choice([0, 1], size=[2, 3, 4, 3]).astype(np.float32),
    }

    def head_loss(images):
        parts = [{name: part[images] for name, part in parts.items()} for parts in (logits, labels)]
        return losses.head_loss(*parts, params=params, ignore_label=255, is_training=False)

    batches = slice(0, 2), slice(0, 1), slice(1, 2)
    both, first, void = run_initialized([head_loss(images) for images in batches])
    np.testing.assert_allclose(both.terms, np.add(first.terms, void.terms), rtol=1e-5)
    totals, counts = np.transpose(both.terms)
    assert both.loss == pytest.approx(np.sum(totals / counts), rel=1e-5)
    assert tuple(void.terms[0]) == (0, 0)
    assert np.isfinite(void.loss)
