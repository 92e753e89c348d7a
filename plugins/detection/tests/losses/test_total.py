"""The loss of a batch: kinds, normalisation, hard examples."""

import dataclasses

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame_detection.boxes.coders import FasterRcnnCoder
from tf_frame_detection.losses.total import detection_losses, loss_terms
from tf_frame_detection.model import Params
from tf_frame_detection.networks.detector import Raw
from tf_frame_detection.targets.assigner import Targets

ANCHORS, CLASSES = 40, 3
# Matched anchors of each of four images.
MATCHES = (0, 1, 7, 20)


def example():
    """Outputs of a network and targets of four images with different numbers of boxes."""
    random = np.random.RandomState(0)
    positive = np.arange(ANCHORS) < np.array(MATCHES)[:, np.newaxis]
    classes = np.eye(CLASSES)[random.randint(CLASSES, size=positive.shape)] * positive[..., None]
    size = random.uniform(5, 20, [ANCHORS, 2])
    corner = random.uniform(0, 100, [ANCHORS, 2])
    raw = Raw(
        random.normal(size=[4, ANCHORS, 4]),
        random.normal(size=[4, ANCHORS, 1 + CLASSES]),
        np.concatenate([corner, corner + size], 1),
    )
    targets = Targets(
        classes,
        np.ones_like(positive, float),
        random.normal(size=[4, ANCHORS, 4]) * positive[..., None],
        positive.astype(float),
        np.where(positive, 0, -1),
    )
    return raw, targets


def losses(images=slice(None), background=0, terms=False, **options):
    """Loss of classes and of boxes of some of the images, with another logit of the background.

    With `terms` their `loss_terms`.
    """
    raw, targets = example()
    raw.logits[..., 0] += background
    raw = Raw(raw.codes[images], raw.logits[images], raw.anchors)
    targets = Targets(*(part[images] for part in targets))
    params = dataclasses.replace(Params(), **options)
    with tf.Graph().as_default(), tf.Session() as session:
        kinds = [np.float32] * 4 + [np.int32]
        raw = Raw(*(tf.constant(part, tf.float32) for part in raw))
        targets = Targets(*(tf.constant(p.astype(k)) for p, k in zip(targets, kinds, strict=True)))
        found = detection_losses(raw, targets, params, coder=FasterRcnnCoder())
        if terms:
            return np.array(session.run(loss_terms(found, targets, params)))
        return np.array(list(session.run(found).values()))


@pytest.mark.parametrize("kind", ["focal", "sigmoid", "softmax"])
def test_the_mean_of_halves_is_the_loss_of_the_whole(kind):
    halves = [losses(part, classification_loss=kind) for part in (slice(2), slice(2, 4))]
    whole = losses(classification_loss=kind)
    np.testing.assert_allclose(np.mean(halves, axis=0), whole, rtol=1e-6)


def test_the_terms_of_single_images_add_up_where_the_matches_of_a_batch_divide():
    singles = [losses(slice(n, n + 1), terms=True, loss_normalizer="batch") for n in range(4)]
    terms = losses(terms=True, loss_normalizer="batch")
    np.testing.assert_allclose(np.sum(singles, axis=0), terms, rtol=1e-5)
    ((total, count),) = terms
    assert count == sum(MATCHES)
    assert total / count == pytest.approx(losses(loss_normalizer="batch").sum(), rel=1e-5)
    # Else the loss is a mean over the images.
    assert not losses(terms=True).size


def test_options_are_factors_of_the_losses():
    """As in the API, where the mean over clones is another loss."""
    of_images = np.array([losses(slice(n, n + 1)) for n in range(4)])
    expected = np.maximum(MATCHES, 1) @ of_images / sum(MATCHES)
    np.testing.assert_allclose(losses(loss_normalizer="batch"), expected, rtol=1e-6)
    plain = losses(normalize_by_code_size=False)
    found = losses(classification_weight=0.5, localization_weight=8, normalize_by_code_size=True)
    np.testing.assert_allclose(found, plain * [0.5, 2], rtol=1e-6)
    assert losses(focal_gamma=0.0)[0] > losses(focal_gamma=2.0)[0]
    assert losses(focal_alpha=0.9)[0] != pytest.approx(losses(focal_alpha=0.25)[0])
    sigmoid = losses(classification_loss="sigmoid")[0]
    assert losses(focal_gamma=0.0, focal_alpha=0.5)[0] == pytest.approx(sigmoid / 2)
    assert losses(smooth_l1_delta=0.1)[1] < losses(smooth_l1_delta=1.0)[1]


def test_the_background_has_a_logit_that_counts_for_softmax_only():
    for kind, counts in (("focal", False), ("softmax", True)):
        plain, changed = (losses(background=n, classification_loss=kind)[0] for n in (0, 3))
        assert (plain != changed) == counts


def test_hard_examples_are_positives_and_the_worst_negatives():
    options = {"classification_loss": "sigmoid", "hard_example_mining": True}
    every = losses(classification_loss="sigmoid")
    most = losses(
        **options, num_hard_examples=0, hard_example_iou=1.0, max_negatives_per_positive=None
    )
    np.testing.assert_allclose(most, every, rtol=1e-6)
    # Without a match an image has its three worst negatives.
    few = losses(slice(1), **options, hard_example_iou=1.0, min_negatives_per_image=3)
    raw, _ = example()
    of_anchors = np.log1p(np.exp(raw.logits[0, :, 1:])).sum(axis=1)
    assert few[0] == pytest.approx(np.sort(of_anchors)[-3:].sum(), rel=1e-5)
    # Each match allows as many negatives; all of the 20 anchors without a match are fewer than 60.
    some = losses(slice(3, 4), **options, hard_example_iou=1.0, max_negatives_per_positive=0.5)
    whole = losses(slice(3, 4), classification_loss="sigmoid")
    assert some[1] == pytest.approx(whole[1]) and some[0] < whole[0]
    assert losses(slice(2, 3), **options, num_hard_examples=1, hard_example_loss="box")[1] > 0
