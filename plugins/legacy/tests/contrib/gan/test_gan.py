"""Models, losses, train ops and the Estimator of tf.contrib.gan."""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from sessions import initialized_session
from slow_cases import slow_but
from tf_frame_legacy import layers
from tf_frame_legacy.contrib import gan
from tf_frame_legacy.estimator.inputs import numpy_input_fn

REAL = np.random.RandomState(0).normal(3.0, 0.5, (16, 2)).astype(np.float32)
NOISE = np.random.RandomState(1).normal(size=(16, 3)).astype(np.float32)
LOGITS, REAL_LOGITS = np.array([[0.5], [-1.0]], np.float32), np.array([[2.0], [0.0]], np.float32)


def generator(inputs, mode=None):
    if isinstance(inputs, list):
        inputs = tf.concat(inputs, 1)
    return layers.dense(inputs, 2, name="out", kernel_regularizer=tf.nn.l2_loss)


def discriminator(data, inputs):
    return layers.dense(tf.nn.relu(layers.dense(data, 4, name="hidden")), 1, name="out")


def classifier(data, inputs):
    return discriminator(data, inputs), layers.dense(data, 3, name="classes")


def recognizer(data, inputs):
    mean = layers.dense(data, 1, name="mean")
    return discriminator(data, inputs), [tf.distributions.Normal(mean, 1.0)]


def model():
    return gan.gan_model(generator, discriminator, REAL, NOISE)


def names(variables):
    return [variable.op.name for variable in variables]


def value(tensor):
    with initialized_session() as session:
        return session.run(tensor)


def test_scopes_of_a_model(graph):
    built = model()
    assert names(built.generator_variables) == ["Generator/out/kernel", "Generator/out/bias"]
    assert len(built.discriminator_variables) == 4
    assert all(name.startswith("Discriminator/") for name in names(built.discriminator_variables))
    assert built.discriminator_gen_outputs.shape == built.discriminator_real_outputs.shape
    with pytest.raises(ValueError, match="must be the same shape as real data"):
        gan.gan_model(generator, lambda data, _: data, REAL[:, :1], NOISE, "G", "D")


def test_losses(graph):
    built = model()._replace(
        discriminator_gen_outputs=tf.constant(LOGITS),
        discriminator_real_outputs=tf.constant(REAL_LOGITS),
    )
    losses = gan.losses
    softplus = lambda x: np.log1p(np.exp(x))  # noqa: E731
    smoothed = 0.875 * softplus(-REAL_LOGITS) + 0.125 * softplus(REAL_LOGITS)
    minimax = smoothed.mean() + softplus(LOGITS).mean()
    ones = np.ones_like(LOGITS)
    expected = {
        losses.wasserstein_generator_loss: 0.25,
        losses.wasserstein_discriminator_loss: -1.25,
        losses.wasserstein_hinge_generator_loss: 0.25,
        losses.wasserstein_hinge_discriminator_loss: 0.75 + 0.5,
        losses.minimax_discriminator_loss: minimax,
        losses.minimax_generator_loss: -(softplus(-ones).mean() + softplus(LOGITS).mean()),
        losses.modified_discriminator_loss: minimax,
        losses.modified_generator_loss: softplus(-LOGITS).mean(),
        losses.least_squares_generator_loss: (0.25 + 4) / 4,
        losses.least_squares_discriminator_loss: (1 + 1) / 4 + (0.25 + 1) / 4,
    }
    computed = value([loss(built, add_summaries=True) for loss in expected])
    np.testing.assert_allclose(computed, list(expected.values()), rtol=1e-5)
    assert len(tf.get_collection(tf.GraphKeys.LOSSES)) == len(expected)
    with pytest.raises(ValueError, match="present in both"):
        losses.wasserstein_generator_loss(built, discriminator_gen_outputs=0.0)
    by_hand = losses.wargs.wasserstein_generator_loss(LOGITS, weights=[[1.0], [0.0]])
    assert value(by_hand) == -0.5


def test_gradient_penalty(graph):
    real, generated = tf.ones([4, 2]), tf.zeros([4, 2])
    slope = lambda data, _: 3.0 * data[:, :1]  # noqa: E731
    penalty = gan.losses.wargs.wasserstein_gradient_penalty
    both = [
        penalty(real, generated, None, slope, None),
        penalty(real, generated, None, slope, None, target=5.0, one_sided=True),
    ]
    np.testing.assert_allclose(value(both), [4.0, 0.0], rtol=1e-5)


@pytest.mark.slow
def test_other_models_have_other_losses(graph):
    labels = np.eye(3, dtype=np.float32)[np.arange(16) % 3]
    with tf.variable_scope("acgan"):
        built = gan.acgan_model(generator, classifier, REAL, NOISE, labels)
    with tf.variable_scope("infogan"):
        info = gan.infogan_model(generator, recognizer, REAL, [NOISE[:, :2]], [NOISE[:, 2:]])
    plain, aided = (
        gan.gan_loss(built, aux_cond_generator_weight=w, aux_cond_discriminator_weight=w)
        for w in (None, 2.0)
    )
    information = gan.gan_loss(info, mutual_information_penalty_weight=1.0)
    before, after, both = value([plain, aided, information])
    assert (np.array(after) > before).all()
    assert np.isfinite(both).all()
    for options in ({"aux_cond_generator_weight": 1.0}, {"gradient_penalty_weight": -1.0}):
        with pytest.raises(ValueError, match="weight"):
            gan.gan_loss(info, **options)
    with pytest.raises(TypeError, match="must output a tuple"):
        gan.acgan_model(generator, discriminator, REAL, NOISE, labels, "G", "D")


@pytest.mark.slow
def test_a_cycle_trains(graph):
    def turn(inputs):
        return layers.dense(inputs, 2, name="out")

    built = gan.cyclegan_model(turn, discriminator, REAL, -REAL)
    loss = gan.cyclegan_loss(built)
    optimizer = tf.train.GradientDescentOptimizer(0.02)
    ops = gan.gan_train_ops(built, loss, optimizer, optimizer)
    with initialized_session() as session:
        before = session.run(loss.loss_x2y.generator_loss)
        for _ in range(20):
            session.run(ops.generator_train_op)
        assert session.run(loss.loss_x2y.generator_loss) < before
        assert session.run(ops.global_step_inc_op) == 1


@pytest.mark.parametrize(
    "get_hooks", slow_but(0, [gan.get_sequential_train_hooks, gan.get_joint_train_hooks])
)
def test_training_by_hooks(graph, tmp_path, get_hooks):
    built = model()
    loss = gan.gan_loss(built, gradient_penalty_weight=1.0)
    counts = []

    class Counting(tf.train.GradientDescentOptimizer):
        def apply_gradients(self, grads_and_vars, global_step=None, name=None):
            update = super().apply_gradients(grads_and_vars, global_step, name)
            counts.append(tf.Variable(0, name="count"))
            with tf.control_dependencies([update]):
                return tf.assign_add(counts[-1], 1).op

    optimizer = Counting(0.05)
    ops = gan.gan_train_ops(built, loss, optimizer, optimizer)
    saved = gan.gan_train(
        ops,
        str(tmp_path),
        get_hooks(gan.GANTrainSteps(1, 3)),
        hooks=[tf.train.StopAtStepHook(num_steps=4)],
        save_summaries_steps=None,
    )
    assert saved == 4
    reader = tf.train.load_checkpoint(str(tmp_path))
    # The step of the saver comes after the hooks that train.
    assert [reader.get_tensor(name) for name in names(counts)] == [4, 12]


def test_update_operations_belong_to_a_scope(graph):
    built = model()
    loss = gan.gan_loss(built)
    steps = [tf.Variable(0) for _ in range(2)]
    with tf.name_scope("Generator/updates/"):
        update = tf.assign_add(steps[0], 1)
    tf.add_to_collection(tf.GraphKeys.UPDATE_OPS, update)
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    ops = gan.gan_train_ops(built, loss, optimizer, optimizer)
    with initialized_session() as session:
        session.run([ops.discriminator_train_op, ops.discriminator_train_op])
        assert session.run(steps[0]) == 0
        session.run(ops.generator_train_op)
        assert session.run(steps[0]) == 1
    tf.add_to_collection(tf.GraphKeys.UPDATE_OPS, tf.assign_add(steps[1], 1))
    with pytest.raises(ValueError, match="unused update ops"):
        gan.gan_train_ops(built, loss, optimizer, optimizer)


@pytest.mark.slow
def test_estimator(tmp_path):
    def optimizer():
        return tf.train.AdamOptimizer(0.05)

    estimator = gan.estimator.GANEstimator(
        str(tmp_path),
        generator,
        discriminator,
        gan.losses.modified_generator_loss,
        gan.losses.modified_discriminator_loss,
        optimizer,
        optimizer,
        get_eval_metric_ops_fn=lambda model: {"center": tf.metrics.mean(model.generated_data)},
        add_summaries=gan.estimator.SummaryType.VARIABLES,
    )
    estimator.train(numpy_input_fn(NOISE, REAL, 16, None, shuffle=False), steps=3)
    first = estimator.evaluate(numpy_input_fn(NOISE, REAL, 16, shuffle=False))
    estimator.train(numpy_input_fn(NOISE, REAL, 16, None, shuffle=False), steps=30)
    metrics = estimator.evaluate(numpy_input_fn(NOISE, REAL, 16, shuffle=False))
    assert metrics["center"] > first["center"]
    assert metrics["loss"] == pytest.approx(
        metrics["generator_loss"] + metrics["discriminator_loss"], rel=1e-5
    )
    generated = list(estimator.predict(numpy_input_fn(NOISE, batch_size=16, shuffle=False)))
    assert np.mean(generated) == pytest.approx(metrics["center"], rel=1e-5)


def test_images_of_a_model(graph):
    images = tf.reshape(tf.range(4 * 4, dtype=tf.float32), [4, 2, 2, 1])
    built = model()._replace(real_data=images, generated_data=images, generator_inputs=images)
    gan.evaluation.add_gan_model_image_summaries(built, grid_size=2)
    gan.evaluation.add_image_comparison_summaries(built, display_diffs=True)
    gan.evaluation.add_regularization_loss_summaries(built)
    assert len(tf.get_collection(tf.GraphKeys.SUMMARIES)) == 2 + 6 + 1 + 2
    value(tf.summary.merge_all())
    grid = value(gan.evaluation.image_grid(images, (2, 2), (2, 2), 1))
    np.testing.assert_array_equal(
        grid[0, :, :, 0], [[0, 1, 4, 5], [2, 3, 6, 7], [8, 9, 12, 13], [10, 11, 14, 15]]
    )
    row = value(gan.evaluation.image_reshaper(tf.unstack(images[:3]), num_cols=2))
    np.testing.assert_array_equal(row[0, 2:, :, 0], [[8, 9, 0, 0], [10, 11, 0, 0]])


def test_conditions_and_clipped_weights(graph):
    labels = tf.one_hot([0, 2], 3)
    tensor = gan.features.condition_tensor_from_onehot(tf.ones([2, 2, 3]), labels, 4)
    assert tensor.shape == [2, 2, 3]
    assert [v.shape.as_list() for v in tf.trainable_variables()] == [[3, 4], [4, 6], [6]]
    built = model()
    optimizer = gan.features.clip_discriminator_weights(
        tf.train.GradientDescentOptimizer(5.0), built, 0.01
    )
    ops = gan.gan_train_ops(built, gan.gan_loss(built), optimizer, optimizer)
    with initialized_session() as session:
        session.run(ops.discriminator_train_op)
        weights = session.run(built.discriminator_variables)
    assert max(np.abs(weight).max() for weight in weights) <= np.float32(0.01)


@pytest.mark.usefixtures("control_flow_of_v1")
def test_a_pool_returns_earlier_tensors(graph):
    values = tf.placeholder(tf.float32, [1])
    pooled = gan.features.tensor_pool([values, values + 10], 2, pooling_probability=1.0)
    assert gan.features.tensor_pool(values, 0) is values
    with initialized_session() as session:
        seen = [session.run(pooled, {values: [step]}) for step in range(6)]
    assert [one[0] for one, _ in seen[:2]] == [0, 1]
    assert all(one[0] < step for step, (one, _) in enumerate(seen) if step > 1)
    assert all(other == one + 10 for one, other in seen)
    with pytest.raises(ValueError, match="negative"):
        gan.features.tensor_pool(values, -1)


@pytest.mark.usefixtures("control_flow_of_v1")
def test_a_discriminator_sees_a_pool(graph):
    built = model()
    pool = lambda pair: gan.features.tensor_pool(pair, 3)  # noqa: E731
    loss = gan.gan_loss(built, tensor_pool_fn=pool, add_summaries=False)
    with initialized_session() as session:
        assert np.isfinite(session.run(loss.discriminator_loss))
