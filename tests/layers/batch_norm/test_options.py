"""Weights of examples, renormalisation, adjustment, and a moving mean without bias."""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame import layers

INPUTS = np.random.RandomState(0).normal(3, 2, size=[4, 5, 3]).astype(np.float32)
MEAN, VARIANCE = INPUTS.mean((0, 1)), INPUTS.var((0, 1))
NORMALISED = (INPUTS - MEAN) / np.sqrt(VARIANCE + 1e-3)


pytestmark = pytest.mark.usefixtures("variable_mode")


def steps(outputs, count, feeds=()):
    """The outputs of each step, and the variables after the last."""
    updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    feeds = feeds or [None] * count
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        results = [session.run([outputs, updates], feed)[0] for feed in feeds]
        return results, {v.op.name: session.run(v) for v in tf.global_variables()}


def test_an_example_with_weight_two_counts_twice():
    weights = tf.constant([1.0, 2.0, 0.0, 1.0])
    outputs = layers.batch_norm(tf.constant(INPUTS), decay=0.5, batch_weights=weights)
    (result,), variables = steps(outputs, 1)
    counted = INPUTS[[0, 1, 1, 3]]
    mean, variance = counted.mean((0, 1)), counted.var((0, 1))
    np.testing.assert_allclose(result, (INPUTS - mean) / np.sqrt(variance + 1e-3), atol=1e-4)
    np.testing.assert_allclose(variables["BatchNorm/moving_mean"], 0.5 * mean, rtol=1e-5)
    np.testing.assert_allclose(
        variables["BatchNorm/moving_variance"], 0.5 + 0.5 * variance, rtol=1e-5
    )
    with pytest.raises(ValueError, match="incompatible"):
        layers.batch_norm(tf.constant(INPUTS), batch_weights=tf.ones([3]))


def test_a_moving_mean_without_bias_is_right_from_the_first_step():
    training = tf.placeholder(tf.bool, [])
    outputs = layers.batch_norm(
        tf.constant(INPUTS), decay=0.9, is_training=training, zero_debias_moving_mean=True
    )
    trains = [False, True, False, True, False]
    _, variables = steps(outputs, 0, [{training: step} for step in trains])
    np.testing.assert_allclose(variables["BatchNorm/moving_mean"], MEAN, rtol=1e-5)
    own = "BatchNorm/BatchNorm/moving_mean"
    np.testing.assert_allclose(variables[f"{own}/biased"], (1 - 0.9**2) * MEAN, rtol=1e-5)
    assert variables[f"{own}/local_step"] == 2
    np.testing.assert_allclose(
        variables["BatchNorm/moving_variance"], 0.81 + 0.19 * VARIANCE, rtol=1e-5
    )


@pytest.mark.parametrize("fused", [None, False])
def test_the_variables_of_the_correction_are_those_of_slim(fused):
    images = tf.constant(INPUTS[:, None])
    for reuse in (None, True):
        layers.batch_norm(
            images, decay=0.9, scale=True, zero_debias_moving_mean=True, fused=fused,
            scope="net/norm", reuse=reuse,
        )  # fmt: skip
    own = [f"net/norm/{name}" for name in ("beta", "gamma", "moving_mean", "moving_variance")]
    biased = [f"net/norm/net/norm/moving_mean/{name}" for name in ("biased", "local_step")]
    assert sorted(v.op.name for v in tf.global_variables()) == sorted(own + biased)
    model = own if fused is None else own + biased
    assert sorted(v.op.name for v in layers.get_model_variables()) == sorted(model)
    # Two batches in one run: none of their updates is lost.
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(tf.get_collection(tf.GraphKeys.UPDATE_OPS))
        values = {v.op.name: session.run(v) for v in tf.global_variables()}
    assert values[biased[1]] == 2
    np.testing.assert_allclose(values[biased[0]], 0.2 * MEAN, rtol=0.06)


def test_updates_can_be_read_as_tensors(variable_mode):
    layers.batch_norm(tf.constant(INPUTS), decay=0.9, scope="norm")
    layers.batch_norm(tf.constant(INPUTS), decay=0.9, renorm=True, scope="renorm")
    layers.batch_norm(tf.constant(INPUTS), decay=0.9, zero_debias_moving_mean=True, scope="bias")
    updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    read = [tf.identity(update) for update in updates]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        values = session.run(read)
    np.testing.assert_allclose(values[0], 0.1 * MEAN, rtol=1e-5)
    assert all(value.shape == MEAN.shape for value in values)
    assert tf.get_collection(tf.GraphKeys.UPDATE_OPS, "norm") == updates[:2]


def test_only_trained_variables_are_made_in_parts():
    images = tf.constant(np.concatenate([INPUTS, INPUTS[..., :1]], axis=-1))
    with tf.variable_scope("parted", partitioner=tf.fixed_size_partitioner(2)):
        outputs = layers.batch_norm(images, decay=0.5, scale=True, zero_debias_moving_mean=True)
    (result,), variables = steps(outputs, 1)
    np.testing.assert_allclose(result[..., :3], NORMALISED, atol=1e-4)
    assert variables["parted/BatchNorm/gamma/part_1"].shape == (2,)
    np.testing.assert_allclose(variables["parted/BatchNorm/moving_mean"][:3], MEAN, rtol=1e-5)


def test_an_adjustment_holds_in_training_only():
    training = tf.placeholder(tf.bool, [])
    outputs = layers.batch_norm(
        tf.constant(INPUTS),
        is_training=training,
        scale=True,
        param_initializers={"gamma": tf.constant_initializer(5.0)},
        adjustment=lambda shape: (tf.fill(shape[-1:], 2.0), tf.fill(shape[-1:], 0.5)),
    )
    (trained, inferred), _ = steps(outputs, 0, [{training: True}, {training: False}])
    np.testing.assert_allclose(trained, 5 * (2 * NORMALISED + 0.5), atol=2e-3)
    first_moving = 0.999 * 0 + 0.001 * MEAN, 0.999 + 0.001 * VARIANCE
    expected = 5 * (INPUTS - first_moving[0]) / np.sqrt(first_moving[1] + 1e-3)
    np.testing.assert_allclose(inferred, expected, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("clipping", [{}, {"rmin": 0.9, "rmax": 1.1, "dmax": 0.25}])
def test_renormalisation_corrects_by_its_own_moving_values(clipping):
    # The bounds of the offset are for both directions.
    signs = np.array([1, -1, 1], np.float32)
    mean, normalised = signs * MEAN, signs * NORMALISED
    outputs = layers.batch_norm(
        tf.constant(signs * INPUTS),
        decay=0.75,
        renorm=True,
        renorm_decay=0.5,
        renorm_clipping=clipping,
    )
    results, variables = steps(outputs, 3)
    stddev = np.sqrt(VARIANCE + 1e-3)
    mean_so_far, stddev_so_far, moving_stddev = np.zeros(3), np.ones(3), np.ones(3)
    for result in results:
        r, d = stddev / stddev_so_far, (mean - mean_so_far) / stddev_so_far
        r = np.clip(r, clipping.get("rmin", 0), clipping.get("rmax", np.inf))
        d = np.clip(d, -clipping.get("dmax", np.inf), clipping.get("dmax", np.inf))
        np.testing.assert_allclose(result, normalised * r + d, rtol=1e-4, atol=1e-4)
        mean_so_far, stddev_so_far = (mean_so_far + mean) / 2, (stddev_so_far + stddev) / 2
        moving_stddev = 0.75 * moving_stddev + 0.25 * stddev
    expected = {
        "moving_mean": (1 - 0.75**3) * mean,
        "moving_variance": moving_stddev**2 - 1e-3,
        "moving_stddev": moving_stddev,
        "renorm_mean": mean_so_far,
        "renorm_stddev": stddev_so_far,
    }
    assert list(variables)[1:] == [f"BatchNorm/{name}" for name in expected]
    for name, value in expected.items():
        np.testing.assert_allclose(variables[f"BatchNorm/{name}"], value, rtol=5e-5, err_msg=name)


def test_an_adjustment_comes_after_renormalisation_and_before_gamma():
    outputs = layers.batch_norm(
        tf.constant(INPUTS),
        renorm=True,
        scale=True,
        param_initializers={"gamma": tf.constant_initializer(5.0)},
        adjustment=lambda shape: (tf.fill(shape[-1:], 2.0), tf.fill(shape[-1:], 0.5)),
    )
    (result,), _ = steps(outputs, 1)
    # Renormalisation begins with mean 0 and deviation 1, which changes nothing.
    np.testing.assert_allclose(result, 5 * (2 * INPUTS + 0.5), rtol=1e-4)


def test_renormalisation_changes_nothing_in_inference():
    training = tf.placeholder(tf.bool, [])
    outputs = layers.batch_norm(tf.constant(INPUTS), is_training=training, renorm=True)
    (result,), variables = steps(outputs, 0, [{training: False}])
    np.testing.assert_allclose(result, INPUTS / np.sqrt(1 + 1e-3), rtol=1e-4)
    assert variables["BatchNorm/moving_variance"].tolist() == [1.0] * 3
    assert variables["BatchNorm/renorm_mean"].tolist() == [0.0] * 3
    feeds = [{training: step} for step in (True, False, False)]
    _, trained = steps(outputs, 0, feeds[:1])
    _, inferred_too = steps(outputs, 0, feeds)
    for name, value in trained.items():
        np.testing.assert_allclose(inferred_too[name], value, rtol=1e-6, err_msg=name)


def test_gradients_pass_the_corrections_by():
    images = tf.constant(INPUTS)
    outputs = layers.batch_norm(images, renorm=True, scope="renorm")
    plain = layers.batch_norm(images, scope="plain")
    slope = np.random.RandomState(1).normal(size=INPUTS.shape).astype(np.float32)
    gradients = [tf.gradients(tf.reduce_sum(each * slope), images) for each in (outputs, plain)]
    (of_both,), _ = steps(gradients, 1)
    (by_renorm,), (by_plain,) = of_both
    # At the first step r is the deviation of the batch.
    np.testing.assert_allclose(by_renorm, by_plain * np.sqrt(VARIANCE + 1e-3), rtol=1e-3, atol=1e-5)


def test_what_renormalisation_does_not_go_with_is_refused():
    images = tf.constant(INPUTS)
    for options in ({"batch_weights": tf.ones([4])}, {"updates_collections": None}, {"sync": True}):
        with pytest.raises(ValueError, match="renorm is not supported with (batch_weights|sync)"):
            layers.batch_norm(images, renorm=True, **options)
    with pytest.raises(ValueError, match="invalid keys for `renorm_clipping` argument: {'max': 2}"):
        layers.batch_norm(images, renorm=True, renorm_clipping={"max": 2})
