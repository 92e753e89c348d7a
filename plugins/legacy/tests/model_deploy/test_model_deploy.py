import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from sessions import run_initialized
from tf_frame_legacy import model_deploy
from tf_frame_legacy.model_deploy import DeploymentConfig, create_clones, optimize_clones

pytestmark = pytest.mark.usefixtures("graph")
SGD = tf.train.GradientDescentOptimizer


def names(variables):
    return [variable.op.name for variable in variables]


def test_the_module_exports_what_old_code_imports():
    assert sorted(model_deploy.__all__) == [
        "Clone",
        "DeployedModel",
        "DeploymentConfig",
        "create_clones",
        "deploy",
        "optimize_clones",
    ]
    assert model_deploy.Clone._fields == ("outputs", "scope", "device")
    assert model_deploy.DeployedModel._fields == (
        "train_op",
        "summary_op",
        "total_loss",
        "clones",
    )


@pytest.mark.usefixtures("variable_mode")
@pytest.mark.parametrize("num_clones", [1, 2, 4])
def test_local_clones_compute_on_gpus_and_keep_their_variables_on_cpu_0(models, num_clones):
    clones = create_clones(DeploymentConfig(num_clones), models.batch_norm, models.tensors())
    assert names(tf.global_variables()) == [
        "BatchNormClassifier/BatchNorm/beta",
        "BatchNormClassifier/BatchNorm/moving_mean",
        "BatchNormClassifier/BatchNorm/moving_variance",
        "BatchNormClassifier/fully_connected/weights",
        "BatchNormClassifier/fully_connected/biases",
    ]
    assert {v.device for v in tf.global_variables()} == {"/device:CPU:0"}
    for index, clone in enumerate(clones):
        prefix = f"clone_{index}/" if num_clones > 1 else ""
        name = f"{prefix}BatchNormClassifier/fully_connected/Sigmoid"
        assert (clone.scope, clone.outputs.op.name) == (prefix, name)
        assert clone.device == clone.outputs.device == f"/device:GPU:{index}"
    assert len(tf.get_collection(tf.GraphKeys.UPDATE_OPS)) == 2 * num_clones
    assert len(tf.losses.get_losses()) == num_clones


def test_local_reference_variables_are_read_on_cpu_0(reference_variables, models):
    create_clones(DeploymentConfig(num_clones=2), models.logistic, models.tensors())
    assert {v.value().device for v in tf.global_variables()} == {"/device:CPU:0"}


@pytest.mark.usefixtures("variable_mode")
@pytest.mark.parametrize(
    ("number", "under_the_device_of_the_variables"), [(1, False), (2, False), (2, True)]
)
def test_parameter_servers_hold_the_variables_in_turn(
    models, number, under_the_device_of_the_variables
):
    config = DeploymentConfig(num_clones=number, num_ps_tasks=number)
    with tf.device(config.variables_device() if under_the_device_of_the_variables else None):
        clones = create_clones(config, models.batch_norm, models.tensors())
    devices = [v.device for v in tf.global_variables()]
    assert devices == [f"/job:ps/task:{i % number}/device:CPU:0" for i in range(5)]
    for index, clone in enumerate(clones):
        scope = f"clone_{index}/" if number > 1 else ""
        assert clone.outputs.op.name == f"{scope}BatchNormClassifier/fully_connected/Sigmoid"
        assert clone.outputs.device == clone.device == f"/job:worker/device:GPU:{index}"
        assert clone.scope == scope


def test_reference_variables_of_parameter_servers_are_read_there(reference_variables, models):
    create_clones(DeploymentConfig(2, num_ps_tasks=2), models.batch_norm, models.tensors())
    for variable in tf.global_variables():
        assert variable.value().device == variable.device != ""


@pytest.mark.usefixtures("variable_mode")
@pytest.mark.parametrize("config", [{}, {"num_ps_tasks": 1}])
@pytest.mark.parametrize(
    "make",
    [
        lambda: tf.get_variable("v", [2]),
        lambda: tf.Variable([1.0, 2.0], name="v"),
        lambda: tf.get_variable("v", [4], partitioner=tf.fixed_size_partitioner(2)),
    ],
)
def test_variables_of_any_api_are_placed(config, make):
    create_clones(DeploymentConfig(num_clones=2, **config), make)
    place = "/job:ps/task:0/device:CPU:0" if config else "/device:CPU:0"
    assert tf.global_variables()
    assert {v.device for v in tf.global_variables()} == {place}


@pytest.mark.usefixtures("variable_mode")
@pytest.mark.parametrize(("config", "job"), [({}, ""), ({"num_ps_tasks": 1}, "/job:worker")])
def test_gradients_of_one_clone_are_where_it_is(models, config, job):
    clones = create_clones(DeploymentConfig(1, **config), models.logistic, models.tensors())
    total_loss, grads_and_vars = optimize_clones(clones, SGD(1.0))
    assert total_loss.op.name == "total_loss"
    assert len(grads_and_vars) == len(tf.trainable_variables()) == 2
    for gradient, variable in grads_and_vars:
        assert gradient.device == f"{job}/device:GPU:0"
        assert variable.device == ("/job:ps/task:0/device:CPU:0" if config else "/device:CPU:0")


@pytest.mark.slow
@pytest.mark.parametrize("classifier", ["logistic", "batch_norm"])
def test_summed_gradients_are_on_no_device_and_named_after_their_variable(models, classifier):
    clones = create_clones(DeploymentConfig(2), getattr(models, classifier), models.tensors())
    _, grads_and_vars = optimize_clones(clones, SGD(1.0))
    assert len(grads_and_vars) == len(tf.trainable_variables())
    assert [gradient.device for gradient, _ in grads_and_vars] == [""] * len(grads_and_vars)
    assert [gradient.op.name for gradient, _ in grads_and_vars] == [
        f"{variable.op.name}/sum_grads" for _, variable in grads_and_vars
    ]


def linear(rows):
    """A model function with data loss w.x, x from `rows` in turn, and w that begins as [1, 2]."""
    rows = iter(rows)

    def model_fn():
        w = tf.get_variable("w", initializer=tf.constant([1.0, 2.0]))
        tf.losses.add_loss(tf.reduce_sum(w * next(rows)))
        return w

    return model_fn


def worked_example(num_clones=2, **options):
    """Values of total loss and gradient; the penalty is 10 sum(w)."""
    config = DeploymentConfig(num_clones=num_clones, clone_on_cpu=True)
    clones = create_clones(config, linear([[1.0, 1.0], [3.0, 5.0]]))
    penalty = 10.0 * tf.reduce_sum(clones[0].outputs)
    tf.add_to_collection(tf.GraphKeys.REGULARIZATION_LOSSES, penalty)
    total, ((gradient, _),) = optimize_clones(clones, SGD(1.0), **options)
    return run_initialized([total, gradient, tf.losses.get_total_loss()])


@pytest.mark.usefixtures("variable_mode")
@pytest.mark.parametrize(
    ("losses", "expected"),
    [(None, [38.0, 12.0, 13.0]), ([], [8.0, 2.0, 3.0]), ([7.0], [15.0, 2.0, 3.0])],
)
def test_penalties_count_once_and_are_collected_off_or_passed(losses, expected):
    losses = None if losses is None else [tf.constant(loss) for loss in losses]
    total, gradient, sum_of_all = worked_example(regularization_losses=losses)
    np.testing.assert_allclose([total, *gradient], expected)
    assert sum_of_all == pytest.approx(46.0)


def summary_tags():
    summaries = run_initialized(tf.get_collection(tf.GraphKeys.SUMMARIES))
    return [tf.Summary.FromString(summary).value[0].tag for summary in summaries]


def test_losses_are_named_and_summarised_in_the_scopes_of_their_clones(graph):
    worked_example()
    for name in ("clone_loss", "scaled_clone_loss"):
        for scope in ("clone_0", "clone_1"):
            assert graph.get_operation_by_name(f"{scope}/{name}").outputs[0].shape == []
    graph.get_operation_by_name("clone_0/regularization_loss")
    with pytest.raises(KeyError):
        graph.get_operation_by_name("clone_1/regularization_loss")
    assert summary_tags() == [
        "clone_0/Losses/clone_0//clone_loss",
        "clone_0/Losses/regularization_loss",
        "clone_1/Losses/clone_1//clone_loss",
    ]


def test_losses_are_computed_where_their_clone_is_and_summarised_on_no_device(graph, models):
    clones = create_clones(DeploymentConfig(2), models.logistic, models.tensors())
    tf.add_to_collection(tf.GraphKeys.REGULARIZATION_LOSSES, tf.constant(1.0))
    optimize_clones(clones, SGD(1.0))
    expected = {
        "clone_0/clone_loss": "/device:GPU:0",
        "clone_0/regularization_loss": "/device:GPU:0",
        "clone_1/scaled_clone_loss": "/device:GPU:1",
        "total_loss": "",
    }
    assert {name: graph.get_operation_by_name(name).device for name in expected} == expected
    assert {s.device for s in tf.get_collection(tf.GraphKeys.SUMMARIES)} == {""}


def test_the_loss_of_one_clone_is_not_scaled(graph):
    total, gradient, _ = worked_example(num_clones=1)
    np.testing.assert_allclose([total, *gradient], [33.0, 11.0, 11.0])
    graph.get_operation_by_name("clone_loss")
    with pytest.raises(KeyError):
        graph.get_operation_by_name("scaled_clone_loss")
    assert summary_tags() == ["Losses/clone_loss", "Losses/regularization_loss"]


def test_the_total_loss_joins_the_name_scope_around_it(models):
    clones = create_clones(DeploymentConfig(2), models.logistic, models.tensors())
    with tf.variable_scope("OptimizeClones"):
        total_loss, _ = optimize_clones(clones, SGD(1.0))
    assert total_loss.op.name == "OptimizeClones/total_loss"


def test_keyword_arguments_go_to_the_optimizer(models):
    clones = create_clones(DeploymentConfig(2), models.logistic, models.tensors())
    seen = []

    class Asked(SGD):
        def compute_gradients(self, loss, **kwargs):
            seen.append(kwargs)
            return super().compute_gradients(loss, **kwargs)

    chosen = {"var_list": tf.trainable_variables()[:1], "gate_gradients": SGD.GATE_GRAPH}
    _, grads_and_vars = optimize_clones(clones, Asked(1.0), None, **chosen)
    assert seen == [chosen] * 2
    assert names(v for _, v in grads_and_vars) == ["LogisticClassifier/fully_connected/weights"]


def test_variables_without_gradient_are_left_out():
    def model_fn():
        tf.get_variable("unused", [])
        tf.losses.add_loss(2.0 * tf.get_variable("used", []))

    clones = create_clones(DeploymentConfig(2, True), model_fn)
    _, grads_and_vars = optimize_clones(clones, SGD(1.0))
    assert names(v for _, v in grads_and_vars) == ["used"]


def test_a_gradient_of_one_clone_only_is_passed_on():
    uses = iter([True, False])

    def model_fn():
        v = tf.get_variable("v", [])
        w = tf.get_variable("w", [])
        tf.losses.add_loss(v + 3.0 * w if next(uses) else 1.0 * v)

    clones = create_clones(DeploymentConfig(2, True), model_fn)
    _, grads_and_vars = optimize_clones(clones, SGD(1.0))
    assert run_initialized([gradient for gradient, _ in grads_and_vars]) == [1.0, 1.5]


@pytest.mark.parametrize("num_clones", [1, 3])
def test_a_model_without_any_loss_is_told_how_to_add_one(num_clones):
    clones = create_clones(DeploymentConfig(num_clones), lambda: tf.get_variable("v", []))
    with pytest.raises(ValueError, match=r"no clone has a loss; .*tf\.GraphKeys\.LOSSES"):
        optimize_clones(clones, SGD(1.0))


def test_eleven_clones_each_collect_their_own_losses():
    rows = [[float(i), 0.0] for i in range(11)]
    clones = create_clones(DeploymentConfig(11, True), linear(rows))
    total, ((gradient, _),) = optimize_clones(clones, SGD(1.0))
    assert run_initialized(total) == pytest.approx(5.0)
    np.testing.assert_allclose(run_initialized(gradient), [5.0, 0.0])
