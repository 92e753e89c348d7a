"""DeepLab's segmentation loss against NumPy, from the same logits and labels."""

import logging

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame_legacy.train_utils import (
    add_softmax_cross_entropy_loss_for_each_scale as add_losses,
    get_label_weight_mask,
)

CLASSES = 3

IGNORED = 255

RANDOM = np.random.RandomState(1)

LOGITS = RANDOM.randn(2, 4, 4, CLASSES).astype(np.float32)

LABELS = RANDOM.randint(0, CLASSES, (2, 4, 4, 1)).astype(np.int32)

LABELS[0, :2, :, 0] = IGNORED


def cross_entropy(logits, labels):
    """`[pixels]`, 0 where the label is ignored."""
    logits, labels = logits.reshape(-1, CLASSES).astype(np.float64), labels.reshape(-1)
    counts = labels != IGNORED
    log_sum = np.log(np.exp(logits).sum(axis=1))
    chosen = logits[np.arange(len(labels)), np.where(counts, labels, 0)]
    return (log_sum - chosen) * counts


def losses_of(scales, labels, *arguments, step=None, graph=None, **options):
    """Values of the losses that were added."""
    with (graph or tf.Graph()).as_default(), tf.Session() as session:
        global_step = None if step is None else tf.train.create_global_step()
        logits = {scale: tf.constant(value) for scale, value in scales.items()}
        labels = None if labels is None else tf.constant(labels)
        classes = options.pop("num_classes", CLASSES)
        add_losses(logits, labels, classes, IGNORED, *arguments, **options)
        session.run(tf.global_variables_initializer())
        if step is not None:
            session.run(tf.assign(global_step, step))
        return session.run(tf.losses.get_losses())


def test_the_loss_is_the_mean_over_the_pixels_that_count():
    entropy = cross_entropy(LOGITS, LABELS)
    expected = entropy.sum() / (LABELS != IGNORED).sum()
    assert losses_of({"1.0": LOGITS}, LABELS) == pytest.approx([expected], rel=1e-5)


def test_where_no_pixel_counts_the_loss_is_zero():
    ignored = np.full_like(LABELS, IGNORED)
    assert losses_of({"1.0": LOGITS}, ignored) == [0.0]
    assert losses_of({"1.0": LOGITS}, ignored, top_k_percent_pixels=0.5) == [0.0]


def test_one_weight_multiplies_the_loss():
    (one,) = losses_of({"1.0": LOGITS}, LABELS)
    assert losses_of({"1.0": LOGITS}, LABELS, 0.5) == pytest.approx([0.5 * one], rel=1e-5)


def test_each_label_has_its_weight_and_the_mean_is_not_weighted():
    weights = np.array([0.5, 2.0, 0.0])
    counts = LABELS.reshape(-1) != IGNORED
    of_pixel = weights[np.where(counts, LABELS.reshape(-1), 0)]
    expected = (cross_entropy(LOGITS, LABELS) * of_pixel).sum() / counts.sum()
    found = losses_of({"1.0": LOGITS}, LABELS, weights.tolist())
    assert found == pytest.approx([expected], rel=1e-5)


def test_small_logits_are_resized_to_the_labels():
    """Bilinearly, from 2 to 4 pixels, so that the first and the last ones coincide."""
    resize = np.array([[1, 0], [2 / 3, 1 / 3], [1 / 3, 2 / 3], [0, 1]])
    logits = LOGITS[:, :2, :2]
    large = np.einsum("yi,xj,bijc->byxc", resize, resize, logits)
    expected = cross_entropy(large, LABELS).sum() / (LABELS != IGNORED).sum()
    assert losses_of({"1.0": logits}, LABELS) == pytest.approx([expected], rel=1e-5)


def test_or_labels_are_resized_to_the_logits():
    logits, labels = LOGITS[:, :2, :2], LABELS[:, 1:, 1:]
    corners = labels[:, ::2, ::2]
    expected = cross_entropy(logits, corners).sum() / (corners != IGNORED).sum()
    found = losses_of({"1.0": logits}, labels, upsample_logits=False)
    assert found == pytest.approx([expected], rel=1e-5)


@pytest.mark.parametrize("upsample_logits", [True, False])
def test_sizes_may_be_unknown_until_the_run(upsample_logits):
    with tf.Graph().as_default(), tf.Session() as session:
        logits = tf.placeholder(tf.float32, [None, None, None, CLASSES])
        labels = tf.placeholder(tf.int32, [None, None, None, 1])
        add_losses({"1.0": logits}, labels, CLASSES, IGNORED, upsample_logits=upsample_logits)
        (loss,) = tf.losses.get_losses()
        found = session.run(loss, {logits: LOGITS[:, :2, :2], labels: LABELS[:, 1:, 1:]})
    known = losses_of(
        {"1.0": LOGITS[:, :2, :2]}, LABELS[:, 1:, 1:], upsample_logits=upsample_logits
    )
    assert [found] == pytest.approx(known)


def mean_of_hardest(part):
    """The hardest pixels among all 32, of which 8 are ignored; those with loss 0 do not count."""
    hardest = np.sort(cross_entropy(LOGITS, LABELS))[::-1][: int(np.float32(part) * 32)]
    return hardest.sum() / (hardest != 0).sum()


@pytest.mark.parametrize("part", [0.1, 0.25, 0.5, 0.9])
def test_only_the_hardest_pixels_count(part):
    found = losses_of({"1.0": LOGITS}, LABELS, top_k_percent_pixels=part)
    assert found == pytest.approx([mean_of_hardest(part)], rel=1e-5)


@pytest.mark.parametrize(("step", "part"), [(0, 1.0), (50, 0.625), (100, 0.25), (1000, 0.25)])
def test_mining_begins_with_all_pixels(step, part):
    options = {"hard_example_mining_step": 100, "top_k_percent_pixels": 0.25}
    found = losses_of({"1.0": LOGITS}, LABELS, step=step, **options)
    assert found == pytest.approx([mean_of_hardest(part)], rel=1e-5)


def test_mining_makes_the_global_step_if_there_is_none():
    options = {"hard_example_mining_step": 100, "top_k_percent_pixels": 0.25}
    found = losses_of({"1.0": LOGITS}, LABELS, **options)
    assert found == pytest.approx([mean_of_hardest(1.0)], rel=1e-5)


def test_mining_steps_without_mining_do_nothing():
    found = losses_of({"1.0": LOGITS}, LABELS, hard_example_mining_step=100)
    assert found == losses_of({"1.0": LOGITS}, LABELS)


def test_every_scale_has_a_loss():
    scales = {"0.5": LOGITS[:, ::2, ::2], "1.0": LOGITS}
    both = losses_of(scales, LABELS, upsample_logits=False)
    alone = [losses_of({k: v}, LABELS, upsample_logits=False)[0] for k, v in scales.items()]
    assert both == pytest.approx(alone)
    assert alone[0] != pytest.approx(alone[1])


@pytest.mark.parametrize(
    ("options", "scopes"),
    [
        ({"scope": "semantic"}, ["semantic_0.5", "semantic_1.0"]),
        ({}, ["softmax_all_pixel_loss", "softmax_all_pixel_loss_1"]),
        (
            {"top_k_percent_pixels": 0.5},
            ["softmax_hard_example_mining", "softmax_hard_example_mining_1"],
        ),
    ],
)
def test_losses_are_named_after_scope_and_scale(options, scopes):
    graph = tf.Graph()
    losses_of({"0.5": LOGITS, "1.0": LOGITS}, LABELS, graph=graph, **options)
    losses = graph.get_collection(tf.GraphKeys.LOSSES)
    assert [loss.op.name.split("/")[0] for loss in losses] == scopes
    for scope in scopes:
        graph.get_operation_by_name(f"{scope}/pixel_losses")


def test_labels_get_no_gradient():
    with tf.Graph().as_default():
        matting, logits = tf.ones([1, 2, 2, 1]), tf.zeros([1, 2, 2, 2])
        add_losses({"1.0": logits}, matting, 2, IGNORED, gt_is_matting_map=True)
        of_logits, of_labels = tf.gradients(tf.losses.get_losses(), [logits, matting])
    assert of_logits is not None
    assert of_labels is None


def test_a_matting_map_is_the_confidence_of_the_second_class():
    logits = LOGITS[..., :2]
    matting = np.linspace(0, 1, 32, dtype=np.float32).reshape(2, 4, 4, 1)
    matting[1, 3] = IGNORED
    logs = logits - np.log(np.exp(logits).sum(axis=-1, keepdims=True))
    entropy = -((1 - matting) * logs[..., :1] + matting * logs[..., 1:])
    expected = entropy[matting != IGNORED].mean()
    options = {"gt_is_matting_map": True, "num_classes": 2}
    found = losses_of({"1.0": logits}, matting, **options)
    assert found == pytest.approx([expected], rel=1e-5)


def test_shrinking_a_matting_map_is_warned_of(caplog):
    caplog.set_level(logging.WARNING, "tf_frame")
    options = {"gt_is_matting_map": True, "num_classes": 2, "upsample_logits": False}
    losses_of({"1.0": LOGITS[..., :2]}, np.ones([2, 4, 4, 1], np.float32), **options)
    expected = "Label downsampling with nearest neighbor may introduce artifacts."
    assert caplog.messages == [expected]


@pytest.mark.parametrize(
    ("labels", "options", "message"),
    [
        (None, {}, "No label for softmax cross entropy loss."),
        (LABELS, {"gt_is_matting_map": True}, "Labels must be floats if groundtruth is a matting"),
        (
            LABELS.astype(np.float32),
            {"gt_is_matting_map": True, "loss_weight": 0.5},
            "loss_weight must equal to 1 if groundtruth is matting map.",
        ),
        (LABELS, {"loss_weight": 1}, "The type of label_weights is invalid"),
        (LABELS, {"loss_weight": [1.0]}, "Length of label_weights must be equal to num_classes"),
    ],
)
def test_what_does_not_fit_is_an_error(labels, options, message):
    with pytest.raises(ValueError, match=message):
        losses_of({"1.0": LOGITS}, labels, **options)


WEIGHTED_LABELS = [0, 4, 1, 3, 2, 255]


def mask(labels, label_weights, num_classes=5, ignore_label=255):
    with tf.Graph().as_default(), tf.Session() as session:
        labels = tf.constant(labels)
        return session.run(get_label_weight_mask(labels, ignore_label, num_classes, label_weights))


def test_one_weight_for_all_labels():
    np.testing.assert_allclose(mask(WEIGHTED_LABELS, 0.5), [0.5] * 5 + [0.0])


def test_a_weight_for_each_label():
    found = mask(WEIGHTED_LABELS, [0.0, 0.1, 0.2, 0.3, 0.4])
    np.testing.assert_allclose(found, [0.0, 0.4, 0.1, 0.3, 0.2, 0.0])


def test_a_class_may_be_the_one_to_ignore():
    found = mask(WEIGHTED_LABELS[:5], [0.0, 0.1, 0.2, 0.3, 0.4], ignore_label=4)
    np.testing.assert_allclose(found, [0.0, 0.0, 0.1, 0.3, 0.2])


def test_labels_that_are_no_class_weigh_nothing():
    np.testing.assert_allclose(mask([1, 7], [0.5, 0.5], num_classes=2), [0.5, 0.0])


def test_labels_may_have_any_shape():
    np.testing.assert_allclose(mask([[0, 1], [1, 9]], [1.0, 2.0], 2, 9), [[1.0, 2.0], [2.0, 0.0]])


@pytest.mark.parametrize("label_weights", [None, 1, (0.5, 0.5), np.ones(2)])
def test_weights_of_another_type_are_an_error(label_weights):
    message = "^The type of label_weights is invalid, it must be a float or a list"
    with pytest.raises(ValueError, match=message):
        mask([0, 1], label_weights, num_classes=2)


def test_a_wrong_number_of_weights_is_an_error():
    message = (
        "^Length of label_weights must be equal to num_classes if it is a list, "
        r"label_weights: \[0.1, 0.2\], num_classes: 5"
    )
    with pytest.raises(ValueError, match=message):
        mask(WEIGHTED_LABELS, [0.1, 0.2])
