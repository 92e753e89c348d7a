"""Losses of sequences against NumPy."""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame_legacy.contrib.seq2seq import sequence_loss

random = np.random.RandomState(0)
LOGITS = random.randn(3, 4, 5).astype(np.float32)
TARGETS = random.randint(0, 5, (3, 4))
WEIGHTS = np.float32([[1, 1, 0.5, 0], [1, 0, 0, 0], [2, 2, 2, 0]])


def test_reductions(graph):
    log_probs = LOGITS - np.log(np.exp(LOGITS).sum(2, keepdims=True))
    losses = -np.take_along_axis(log_probs, TARGETS[..., None], 2)[..., 0] * WEIGHTS
    counts = WEIGHTS != 0

    def over(sizes, axis):
        total = sizes.sum(axis)
        return np.where(total == 0, 0, losses.sum(axis) / np.where(total == 0, 1, total))

    none = {"average_across_timesteps": False, "average_across_batch": False}
    expected = [
        ({}, over(WEIGHTS, (0, 1))),
        ({"average_across_batch": False}, over(WEIGHTS, 1)),
        ({"average_across_timesteps": False}, over(WEIGHTS, 0)),
        (none, losses),
        ({**none, "sum_over_timesteps": True, "sum_over_batch": True}, over(counts, (0, 1))),
        ({**none, "sum_over_timesteps": True}, over(counts, 1)),
        ({**none, "sum_over_batch": True}, over(counts, 0)),
        # As in the original, an average of one axis ignores the sum over the other.
        ({"average_across_batch": False, "sum_over_batch": True}, over(WEIGHTS, 1)),
    ]
    arguments = map(tf.constant, (LOGITS, TARGETS, WEIGHTS))
    logits, targets, weights = arguments
    tensors = [sequence_loss(logits, targets, weights, **kwargs) for kwargs, _ in expected]
    own = sequence_loss(
        logits, targets, weights, softmax_loss_function=lambda labels, logits: logits[:, 0]
    )
    with tf.Session() as session:
        for value, (_, figures) in zip(session.run(tensors), expected, strict=True):
            np.testing.assert_allclose(value, figures, rtol=1e-5)
        mean = (LOGITS[..., 0] * WEIGHTS).sum() / WEIGHTS.sum()
        np.testing.assert_allclose(session.run(own), mean, rtol=1e-5)


def test_errors(graph):
    logits, targets, weights = map(tf.constant, (LOGITS, TARGETS, WEIGHTS))
    with pytest.raises(ValueError, match="Logits must be"):
        sequence_loss(logits[0], targets, weights)
    with pytest.raises(ValueError, match="Targets must be"):
        sequence_loss(logits, targets[0], weights)
    with pytest.raises(ValueError, match="Weights must be"):
        sequence_loss(logits, targets, weights[0])
    with pytest.raises(ValueError, match="timesteps cannot be set"):
        sequence_loss(logits, targets, weights, sum_over_timesteps=True)
    with pytest.raises(ValueError, match="batch cannot be set"):
        sequence_loss(logits, targets, weights, sum_over_batch=True)
