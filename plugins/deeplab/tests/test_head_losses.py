"""Losses of the heads against NumPy."""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from sessions import run_initialized
from tf_frame_deeplab import losses

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


@pytest.mark.parametrize("share", [0.25, 0.5, 0.9])
def test_hard_pixels_are_those_of_the_greatest_loss(share):
    loss = run_initialized(losses.semantic_loss(LOGITS, LABELS, 255, hard_pixels=share))
    hardest = np.sort(entropy().ravel())[::-1][: int(np.float32(24) * np.float32(share))]
    assert loss == pytest.approx(hardest.sum() / (hardest > 0).sum(), rel=1e-5)


def test_weighted_pixels_are_a_mean_and_ignored_pixels_alone_have_no_loss():
    weights = (0.5, 1.0, 3.0)
    loss = run_initialized(losses.semantic_loss(LOGITS, LABELS, 255, class_weights=weights))
    assert loss == pytest.approx(entropy(weights).sum() / (LABELS != 255).sum(), rel=1e-5)
    loss = run_initialized(losses.semantic_loss(LOGITS, LABELS, 255))
    assert loss == pytest.approx(entropy().sum() / (LABELS != 255).sum(), rel=1e-5)
    nothing = np.full_like(LABELS, 255)
    for share in (1.0, 0.5):
        assert run_initialized(losses.semantic_loss(LOGITS, nothing, 255, hard_pixels=share)) == 0


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
    loss = run_initialized(losses.center_loss(heat, labels, counts))
    squares = ((heat - labels)[..., 0] ** 2)[counts].sum()
    assert loss == pytest.approx(squares / (labels[..., 0][counts] > 0).sum(), rel=1e-5)
    assert run_initialized(losses.center_loss(heat, 0 * labels, counts)) == 0
    # The loss of offsets is over the pixels of instances.
    offsets = RANDOM.normal(size=[2, 5, 4, 2]).astype(np.float32)
    labels = RANDOM.normal(size=[2, 5, 4, 3]).astype(np.float32)
    labels[..., 2] = RANDOM.uniform(size=[2, 5, 4]) < 0.5
    inside = labels[..., 2] == 1
    expected = np.abs(offsets - labels[..., :2])[inside].sum() / inside.sum()
    assert run_initialized(losses.offset_loss(offsets, labels)) == pytest.approx(expected, rel=1e-5)
    assert run_initialized(losses.offset_loss(offsets, 0 * labels)) == 0
