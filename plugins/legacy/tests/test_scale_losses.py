"""DeepLab's segmentation loss against NumPy, from the same logits and labels."""

import logging

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame_legacy.train_utils import (
    add_softmax_cross_entropy_loss_for_each_scale as add_losses,
    get_label_weight_mask,
)

CLASSES, IGNORED = 3, 255
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


def compute_losses(scales, labels, *arguments, step=None, graph=None, **options):
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


def check(logits, labels, expected, *arguments, **options):
    losses = compute_losses({"1.0": logits}, labels, *arguments, **options)
    assert losses == pytest.approx([expected], rel=1e-5)


def test_the_loss_is_the_mean_over_the_pixels_that_count():
    entropy = cross_entropy(LOGITS, LABELS)
    expected = entropy.sum() / (LABELS != IGNORED).sum()
    check(LOGITS, LABELS, expected)
    check(LOGITS, LABELS, 0.5 * expected, 0.5)
    ignored = np.full_like(LABELS, IGNORED)
    check(LOGITS, ignored, 0.0)
    check(LOGITS, ignored, 0.0, top_k_percent_pixels=0.5)


def test_each_label_has_its_weight_and_the_mean_is_not_weighted():
    weights = np.array([0.5, 2.0, 0.0])
    counts = LABELS.reshape(-1) != IGNORED
    pixel_weights = weights[np.where(counts, LABELS.reshape(-1), 0)]
    expected = (cross_entropy(LOGITS, LABELS) * pixel_weights).sum() / counts.sum()
    check(LOGITS, LABELS, expected, weights.tolist())


def test_small_logits_are_resized_to_the_labels_or_labels_to_the_logits():
    # Bilinearly, from 2 to 4 pixels, so that the first and the last ones coincide.
    resize = np.array([[1, 0], [2 / 3, 1 / 3], [1 / 3, 2 / 3], [0, 1]])
    logits, labels = LOGITS[:, :2, :2], LABELS[:, 1:, 1:]
    large = np.einsum("yi,xj,bijc->byxc", resize, resize, logits)
    check(logits, LABELS, cross_entropy(large, LABELS).sum() / (LABELS != IGNORED).sum())
    corners = labels[:, ::2, ::2]
    expected = cross_entropy(logits, corners).sum() / (corners != IGNORED).sum()
    check(logits, labels, expected, upsample_logits=False)


@pytest.mark.parametrize("upsample_logits", [True, False])
def test_sizes_may_be_unknown_until_the_run(upsample_logits):
    with tf.Graph().as_default(), tf.Session() as session:
        logits = tf.placeholder(tf.float32, [None, None, None, CLASSES])
        labels = tf.placeholder(tf.int32, [None, None, None, 1])
        add_losses({"1.0": logits}, labels, CLASSES, IGNORED, upsample_logits=upsample_logits)
        (loss,) = tf.losses.get_losses()
        value = session.run(loss, {logits: LOGITS[:, :2, :2], labels: LABELS[:, 1:, 1:]})
    check(LOGITS[:, :2, :2], LABELS[:, 1:, 1:], value, upsample_logits=upsample_logits)


def hardest_mean(part):
    """The hardest pixels among all 32 (8 are ignored); pixels with loss 0 do not count."""
    hardest = np.sort(cross_entropy(LOGITS, LABELS))[::-1][: int(np.float32(part) * 32)]
    return hardest.sum() / (hardest != 0).sum()


@pytest.mark.parametrize("part", [0.1, 0.25, 0.5, 0.9])
def test_only_the_hardest_pixels_count(part):
    check(LOGITS, LABELS, hardest_mean(part), top_k_percent_pixels=part)


@pytest.mark.parametrize(
    ("step", "part"), [(None, 1.0), (0, 1.0), (50, 0.625), (100, 0.25), (1000, 0.25)]
)
def test_mining_begins_with_all_pixels_and_makes_a_missing_global_step(step, part):
    options = {"hard_example_mining_step": 100, "top_k_percent_pixels": 0.25}
    check(LOGITS, LABELS, hardest_mean(part), step=step, **options)
    del options["top_k_percent_pixels"]
    without_mining = compute_losses({"1.0": LOGITS}, LABELS, **options)
    assert without_mining == compute_losses({"1.0": LOGITS}, LABELS)


def test_every_scale_has_a_loss():
    scales = {"0.5": LOGITS[:, ::2, ::2], "1.0": LOGITS}
    both = compute_losses(scales, LABELS, upsample_logits=False)
    alone = [compute_losses({k: v}, LABELS, upsample_logits=False)[0] for k, v in scales.items()]
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
    compute_losses({"0.5": LOGITS, "1.0": LOGITS}, LABELS, graph=graph, **options)
    losses = graph.get_collection(tf.GraphKeys.LOSSES)
    assert [loss.op.name.split("/")[0] for loss in losses] == scopes
    for scope in scopes:
        graph.get_operation_by_name(f"{scope}/pixel_losses")


def test_labels_get_no_gradient():
    with tf.Graph().as_default():
        matting, logits = tf.ones([1, 2, 2, 1]), tf.zeros([1, 2, 2, 2])
        add_losses({"1.0": logits}, matting, 2, IGNORED, gt_is_matting_map=True)
        gradients = tf.gradients(tf.losses.get_losses(), [logits, matting])
    assert [gradient is None for gradient in gradients] == [False, True]


def test_a_matting_map_is_the_confidence_of_the_second_class():
    logits = LOGITS[..., :2]
    matting = np.linspace(0, 1, 32, dtype=np.float32).reshape(2, 4, 4, 1)
    matting[1, 3] = IGNORED
    logs = logits - np.log(np.exp(logits).sum(axis=-1, keepdims=True))
    entropy = -((1 - matting) * logs[..., :1] + matting * logs[..., 1:])
    expected = entropy[matting != IGNORED].mean()
    check(logits, matting, expected, gt_is_matting_map=True, num_classes=2)


def test_shrinking_a_matting_map_is_warned_of(caplog):
    caplog.set_level(logging.WARNING, "tf_frame")
    options = {"gt_is_matting_map": True, "num_classes": 2, "upsample_logits": False}
    compute_losses({"1.0": LOGITS[..., :2]}, np.ones([2, 4, 4, 1], np.float32), **options)
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
        compute_losses({"1.0": LOGITS}, labels, **options)


@pytest.mark.parametrize(
    ("labels", "label_weights", "num_classes", "ignore_label", "expected"),
    [
        ([0, 4, 1, 3, 2, 255], 0.5, 5, 255, [0.5] * 5 + [0.0]),
        ([0, 4, 1, 3, 2, 255], [0.0, 0.1, 0.2, 0.3, 0.4], 5, 255, [0, 0.4, 0.1, 0.3, 0.2, 0]),
        # A class may be ignored, labels that are no class weigh nothing, and any shape will do.
        ([0, 4, 1, 3, 2], [0.0, 0.1, 0.2, 0.3, 0.4], 5, 4, [0.0, 0.0, 0.1, 0.3, 0.2]),
        ([1, 7], [0.5, 0.5], 2, 255, [0.5, 0.0]),
        ([[0, 1], [1, 9]], [1.0, 2.0], 2, 9, [[1.0, 2.0], [2.0, 0.0]]),
    ],
)
def test_weights_of_labels(labels, label_weights, num_classes, ignore_label, expected):
    with tf.Graph().as_default(), tf.Session() as session:
        mask = get_label_weight_mask(tf.constant(labels), ignore_label, num_classes, label_weights)
        np.testing.assert_allclose(session.run(mask), expected)


@pytest.mark.parametrize("label_weights", [None, 1, (0.5, 0.5), np.ones(2), [0.1, 0.2]])
def test_weights_of_another_type_or_number_are_an_error(label_weights):
    message = "^The type of label_weights is invalid, it must be a float or a list"
    if isinstance(label_weights, list):
        message = r"^Length of label_weights must .* if it is a list, label_weights: \[0.1, 0.2\]"
    with tf.Graph().as_default(), pytest.raises(ValueError, match=message):
        get_label_weight_mask(tf.constant([0, 1]), 255, 5, label_weights)
