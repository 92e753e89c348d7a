import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from sessions import initialized_session, save_variables
from tf_frame.errors import ConfigError
from tf_frame_legacy import training_graph
from tf_frame_legacy.config import TRAIN_CONFIG, Config
from tf_frame_legacy.model_deploy import DeploymentConfig

pytestmark = pytest.mark.usefixtures("graph")


def variable(name, value):
    with tf.variable_scope("", reuse=tf.AUTO_REUSE):
        return tf.get_variable(name, initializer=tf.constant(value))


def build(config, model_fn, num_clones=1):
    built = training_graph.TrainingGraph(
        Config(config, TRAIN_CONFIG), DeploymentConfig(num_clones, clone_on_cpu=True)
    )
    built.add_clones(lambda: None, model_fn)
    built.add_update(lambda summaries: tf.train.GradientDescentOptimizer(1.0))
    return built


def linear(_):
    weights, biases = variable("layer/weights", [3.0, 4.0]), variable("layer/biases", [1.0])
    tf.losses.add_loss(tf.reduce_sum(weights * [3.0, 4.0]) + tf.reduce_sum(biases))


def stepped(graph):
    with initialized_session() as session:
        session.run(graph.get_tensor_by_name("train_op:0"))
        return session.run({v.op.name: v for v in tf.trainable_variables()})


def test_biases_are_multiplied_before_the_clip(graph):
    build({"bias_grad_multiplier": 10.0, "gradient_clipping_by_norm": 2.5}, linear)
    variables = stepped(graph)
    # Each gradient is clipped by its own norm, 5 and 10.
    np.testing.assert_allclose(variables["layer/weights"], [3 - 1.5, 4 - 2.0], rtol=1e-6)
    np.testing.assert_allclose(variables["layer/biases"], [1 - 2.5], rtol=1e-6)
    assert [op for op in graph.get_operations() if op.name.startswith("clip_grads/")]


def test_frozen_variables_stay(graph):
    build({"bias_grad_multiplier": 10.0, "freeze_variables": ["layer/w"]}, linear)
    variables = stepped(graph)
    assert variables["layer/weights"].tolist() == [3, 4]
    assert variables["layer/biases"].tolist() == [-9]


def test_a_factor_for_biases_that_are_not_there_is_no_error(graph):
    build({"bias_grad_multiplier": 2.0}, lambda _: tf.losses.add_loss(variable("weight", 1.0)))
    assert stepped(graph) == {"weight": 0.0}


def test_everything_frozen_is_an_error():
    with pytest.raises(ConfigError, match=r"freeze_variables \['layer'\] leaves no variable"):
        build({"freeze_variables": ["layer"]}, linear)


def test_a_loss_that_is_no_number_changes_nothing(graph):
    build({}, lambda _: tf.losses.add_loss(variable("weight", 1.0) * np.nan))
    with initialized_session() as session:
        with pytest.raises(tf.errors.InvalidArgumentError, match="LossTensor is inf or nan."):
            session.run("train_op:0")
        assert session.run(tf.trainable_variables()) == [1.0]


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({}, 15),
        ({"startup_delay_steps": 3.0}, 3),
        ({"sync_replicas": True}, 0),
        ({"sync_replicas": True, "startup_delay_steps": 15}, 15),
    ],
)
def test_only_workers_that_are_not_synchronous_wait_at_first(config, expected):
    assert training_graph._startup_delay(Config(config, TRAIN_CONFIG)) == expected


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    values = {"weights": np.float32([7, 7]), "global_step": np.int64(99)}
    return save_variables(tmp_path_factory.mktemp("other") / "model", values)


def fine_tune_init_fn(path, var_map):
    config = Config({"fine_tune_checkpoint": path}, TRAIN_CONFIG)
    return training_graph.fine_tune_init_fn(config, lambda: var_map)


def test_variables_that_a_checkpoint_lacks_keep_their_values(path, caplog):
    missing, weights = tf.Variable([1.0, 1.0]), tf.Variable([1.0, 1.0])
    step = tf.train.create_global_step()
    var_map = {"weights": weights, "missing": missing, "global_step": step}
    init_fn = fine_tune_init_fn(path, var_map)
    with initialized_session() as session:
        init_fn(session)
        values = session.run([weights, missing, step])
    assert [value.tolist() for value in values] == [[7.0, 7.0], [1.0, 1.0], 0]
    assert "Variable [missing] is not available in checkpoint" in caplog.text


def test_nothing_to_restore_is_an_error(path, tmp_path):
    assert fine_tune_init_fn("", None) is None
    var_map = {"weights": tf.Variable([1.0]), "global_step": tf.train.create_global_step()}
    with pytest.raises(ConfigError, match="has none of the 2 variables to restore; see the warn"):
        fine_tune_init_fn(path, var_map)
    with pytest.raises(ConfigError, match="missing"):
        fine_tune_init_fn(str(tmp_path / "missing"), {})
