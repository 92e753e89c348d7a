import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from sessions import initialized_session
from tf_frame import layers
from tf_frame_legacy.model_deploy import DeploymentConfig, deploy

pytestmark = [pytest.mark.usefixtures("graph"), pytest.mark.timeout(60)]
TWO_ON_CPU = {"num_clones": 2, "clone_on_cpu": True}


def sgd(learning_rate=1.0):
    return tf.train.GradientDescentOptimizer(learning_rate)


def variable_called(name):
    (variable,) = [v for v in tf.global_variables() if v.op.name.endswith(name)]
    return variable


def bessel(variance, count):
    """The fused kernel keeps the unbiased variance."""
    return variance * count / (count - 1)


@pytest.mark.usefixtures("variable_mode")
def test_two_clones_learn_and_keep_the_statistics_of_one(models):
    model = deploy(DeploymentConfig(**TWO_ON_CPU), models.batch_norm, models.tensors(), None, sgd())
    assert len(tf.global_variables()) == 6
    assert len(tf.get_collection(tf.GraphKeys.UPDATE_OPS)) == 4
    assert len(model.clones) == 2
    assert model.total_loss.op.name == "total_loss"
    assert model.summary_op.op.name == "summary_op/summary_op"
    assert model.train_op.op.name == "train_op"
    moving = [variable_called("moving_mean"), variable_called("moving_variance")]
    with initialized_session() as session:
        initial_loss = session.run(model.total_loss)
        np.testing.assert_array_equal(session.run(moving), [[0.0] * 4, [1.0] * 4])
        losses = [session.run(model.train_op) for _ in range(10)]
        mean, variance = session.run(moving)
        assert losses[0] == pytest.approx(initial_loss)
        assert session.run(model.total_loss) < initial_loss / 5
        assert session.run(tf.train.get_global_step()) == 10
    rows = models.data[0]
    np.testing.assert_allclose(mean, rows.mean(axis=0), rtol=1e-5)
    np.testing.assert_allclose(variance, bessel(rows.var(axis=0), 16), rtol=1e-5)


@pytest.mark.usefixtures("variable_mode")
def test_moving_statistics_are_updated_once_and_from_the_first_clone(models):
    rows, labels = (np.split(array, 2) for array in models.data)
    halves = iter(zip(rows, labels, strict=True))
    model = deploy(
        DeploymentConfig(**TWO_ON_CPU),
        lambda: models.batch_norm(*map(tf.constant, next(halves))),
        optimizer=sgd(),
    )
    moving = [variable_called("moving_mean"), variable_called("moving_variance")]
    with initialized_session() as session:
        session.run(model.train_op)
        mean, variance = session.run(moving)
    np.testing.assert_allclose(mean, 0.9 * rows[0].mean(axis=0), rtol=1e-5)
    expected = 0.1 + 0.9 * bessel(rows[0].var(axis=0), 8)
    np.testing.assert_allclose(variance, expected, rtol=1e-5)


@pytest.mark.usefixtures("variable_mode")
def test_the_update_waits_for_the_loss_that_is_reported(models):
    model = deploy(DeploymentConfig(**TWO_ON_CPU), models.logistic, models.tensors(), None, sgd())
    graph = tf.get_default_graph()
    updates = [op for op in graph.get_operations() if op.type.endswith("ApplyGradientDescent")]
    assert len(updates) == 2
    for update in updates:
        assert model.total_loss.op in ops_before(update)


def ops_before(operation):
    """Operations that must have run, for their values or by control dependencies."""
    earlier, waiting = set(), [operation]
    while waiting:
        operation = waiting.pop()
        before = {*operation.control_inputs, *(tensor.op for tensor in operation.inputs)} - earlier
        earlier |= before
        waiting += before
    return earlier


def test_without_optimizer_there_is_no_train_op(models):
    model = deploy(DeploymentConfig(**TWO_ON_CPU), models.batch_norm, models.tensors())
    assert model.train_op is None
    assert model.total_loss.op.name == "total_loss"
    assert tf.train.get_global_step() is None
    with initialized_session() as session:
        clone_losses = session.run(tf.losses.get_losses())
        assert session.run(model.total_loss) == pytest.approx(np.mean(clone_losses))


def test_without_losses_and_summaries_there_is_neither():
    model = deploy(DeploymentConfig(num_clones=2), lambda: tf.constant(1.0))
    assert (model.train_op, model.total_loss, model.summary_op) == (None, None, None)


def test_an_optimizer_without_any_loss_is_an_error():
    with pytest.raises(ValueError, match="no clone has a loss"):
        deploy(DeploymentConfig(), lambda: tf.get_variable("v", []), optimizer=sgd())


def test_a_loss_without_variables_gives_a_total_loss_and_no_train_op():
    # TensorFlow's optimizers refuse to differentiate then; a pair-less one shows the branch.
    class Nothing:
        def compute_gradients(self, loss):
            return []

    model = deploy(
        DeploymentConfig(), lambda: tf.losses.add_loss(tf.constant(2.0)), optimizer=Nothing()
    )
    assert model.train_op is None
    assert model.total_loss.op.name == "total_loss"


@pytest.mark.usefixtures("variable_mode")
@pytest.mark.parametrize("train", [True, False])
def test_no_summary_is_on_a_gpu(models, train):
    def model_fn():
        outputs = models.regularized()
        tf.summary.histogram("outputs", outputs)

    model = deploy(DeploymentConfig(2), model_fn, optimizer=sgd() if train else None)
    assert len(model.summary_op.op.inputs) == 3
    assert {summary.device for summary in model.summary_op.op.inputs} == {"/device:CPU:0"}


def written(model):
    with initialized_session() as session:
        return tf.Summary.FromString(session.run(model.summary_op)).value


@pytest.mark.parametrize(
    ("num_clones", "expected"),
    [
        (1, ["Losses/clone_loss", "before", "inside", "total_loss_1"]),
        (
            2,
            ["before", "clone_0/Losses/clone_0//clone_loss", "clone_0/inside", "total_loss_1"],
        ),
    ],
)
@pytest.mark.parametrize("train", [True, False])
def test_summaries_are_those_from_before_of_the_first_clone_and_the_total(
    num_clones, expected, train
):
    def model_fn():
        loss = tf.get_variable("v", [], initializer=tf.ones_initializer()) * 2.0
        tf.summary.scalar("inside", loss)
        tf.losses.add_loss(loss)

    tf.summary.scalar("before", tf.constant(1.0))
    model = deploy(DeploymentConfig(num_clones, True), model_fn, optimizer=sgd() if train else None)
    assert sorted(value.tag for value in written(model)) == expected


@pytest.mark.parametrize(
    ("sparse", "numbers", "norm"), [(False, 6, 24.0**0.5), (True, 8, 2.0**0.5)]
)
def test_gradients_are_summarised_when_asked(sparse, numbers, norm):
    """Dense: six times 2. Sparse: four slices of two numbers, each a half."""

    def model_fn():
        v = tf.get_variable("v", [3, 2], initializer=tf.ones_initializer())
        tf.losses.add_loss(tf.reduce_sum(tf.gather(v, [0, 2]) if sparse else 2.0 * v))

    config = DeploymentConfig(**TWO_ON_CPU)
    model = deploy(config, model_fn, optimizer=sgd(), summarize_gradients=True)
    histograms = {value.tag: value.histo for value in written(model)}
    assert histograms["v_gradient"].num == numbers
    assert histograms["v_gradient_norm"].num == 1
    assert histograms["v_gradient_norm"].sum == pytest.approx(norm)


@pytest.mark.usefixtures("variable_mode")
def test_the_global_step_is_made_where_the_variables_are(models):
    config = DeploymentConfig(num_clones=2, num_ps_tasks=2)
    optimizer = tf.train.MomentumOptimizer(0.1, 0.9)
    model = deploy(config, models.logistic, models.tensors(), optimizer=optimizer)
    assert tf.train.get_global_step().device == "/job:ps/task:0/device:CPU:0"
    devices = {v.op.name: v.device for v in tf.global_variables()}
    assert len(devices) == 5
    for variable in tf.trainable_variables():
        assert devices[f"{variable.op.name}/Momentum"] == variable.device
    assert model.train_op.device == "/job:worker/device:CPU:0"
    assert {s.device for s in model.summary_op.op.inputs} == {"/job:worker/device:CPU:0"}


def test_a_global_step_that_is_there_is_taken(models):
    step = tf.train.create_global_step()
    deploy(DeploymentConfig(), models.logistic, models.tensors(), optimizer=sgd())
    assert tf.train.get_global_step() is step


def test_clones_may_share_the_statistics_of_batch_norm():
    inputs = iter([[[1.0], [3.0]], [[5.0], [7.0]]])

    def model_fn():
        normal = layers.batch_norm(tf.constant(next(inputs)), is_training=True, sync=True)
        tf.losses.add_loss(tf.reduce_sum(normal))
        return normal

    with tf.Session() as session:
        model = deploy(DeploymentConfig(**TWO_ON_CPU), model_fn, optimizer=sgd())
        session.run(tf.global_variables_initializer())
        outputs = session.run([clone.outputs for clone in model.clones])
    # Over all four: mean 4, variance 5.
    expected = (np.array([[[1.0], [3.0]], [[5.0], [7.0]]]) - 4.0) / np.sqrt(5.001)
    np.testing.assert_allclose(outputs, expected, rtol=1e-5)


def counted_model():
    """A model that counts how often its loss is computed."""
    weights = tf.get_variable("weights", initializer=tf.constant(1.0))
    count = tf.get_variable("count", initializer=tf.constant(0.0), trainable=False)
    with tf.control_dependencies([tf.assign_add(count, 1.0)]):
        tf.losses.add_loss(tf.identity(2.0 * weights))
    return count


@pytest.mark.usefixtures("variable_mode")
def test_the_chief_computes_no_loss_of_its_own():
    optimizer = tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(0.25), 1)
    config = DeploymentConfig(clone_on_cpu=True)
    model = deploy(config, counted_model, optimizer=optimizer)
    (weights,), count = tf.trainable_variables(), model.clones[0].outputs
    tokens = optimizer.get_init_tokens_op(1)
    update = optimizer.get_chief_queue_runner().enqueue_ops
    with initialized_session() as session:
        session.run([optimizer.chief_init_op, tokens])
        assert session.run(model.train_op) == pytest.approx(2.0)
        session.run(update)
        assert session.run([weights, count]) == [0.5, 1.0]
