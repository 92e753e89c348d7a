import pytest
import tensorflow.compat.v1 as tf

from tf_frame.deploy.clones import create_clones
from tf_frame.deploy.deployment_config import DeploymentConfig
from tf_frame.deploy.placement import variables_placed


def build(config, model_fn):
    with tf.Graph().as_default() as graph, variables_placed(config):
        clones = create_clones(config, model_fn)
    return graph, clones


def two_variables():
    first = tf.get_variable("first", [2, 2])
    second = tf.get_variable("second", [2])
    return tf.matmul(first, first) + second


@pytest.mark.usefixtures("variable_mode")
@pytest.mark.parametrize("num_clones", [1, 2, 4, 11])
def test_local_variables_are_made_once_on_cpu_0(num_clones):
    graph, clones = build(DeploymentConfig(num_clones=num_clones), two_variables)
    variables = graph.get_collection(tf.GraphKeys.GLOBAL_VARIABLES)
    assert [v.op.name for v in variables] == ["first", "second"]
    assert {v.device for v in variables} == {"/device:CPU:0"}
    assert [c.outputs.device for c in clones] == [f"/device:GPU:{i}" for i in range(num_clones)]


@pytest.mark.usefixtures("variable_mode")
@pytest.mark.parametrize("num_ps_tasks", [1, 2, 3])
def test_parameter_servers_take_variables_in_turn(num_ps_tasks):
    def three():
        return [tf.get_variable(name, [1]) for name in "abc"]

    config = DeploymentConfig(num_clones=2, num_ps_tasks=num_ps_tasks)
    graph, _ = build(config, three)
    devices = [v.device for v in graph.get_collection(tf.GraphKeys.GLOBAL_VARIABLES)]
    assert devices == [f"/job:ps/task:{i % num_ps_tasks}/device:CPU:0" for i in range(3)]


def test_reference_variables_are_read_where_they_live(reference_variables):
    graph, _ = build(DeploymentConfig(num_clones=2, num_ps_tasks=2), two_variables)
    for variable in graph.get_collection(tf.GraphKeys.GLOBAL_VARIABLES):
        assert variable.value().device == variable.device != ""


@pytest.mark.usefixtures("variable_mode")
def test_variables_of_tf_variable_are_placed_too():
    graph, _ = build(DeploymentConfig(num_ps_tasks=1), lambda: tf.Variable([1.0], name="v"))
    (variable,) = graph.get_collection(tf.GraphKeys.GLOBAL_VARIABLES)
    assert variable.device == "/job:ps/task:0/device:CPU:0"


def test_the_scope_of_clone_1_does_not_hold_what_clone_10_made():
    def add_loss():
        tf.add_to_collection(tf.GraphKeys.LOSSES, tf.constant(1.0))

    graph, clones = build(DeploymentConfig(num_clones=11), add_loss)
    assert clones[1].scope == "clone_1/"
    assert len(graph.get_collection(tf.GraphKeys.LOSSES, clones[1].scope)) == 1


def test_a_single_clone_has_unprefixed_operations():
    _, (clone,) = build(DeploymentConfig(), lambda: tf.constant(1.0, name="loss"))
    assert (clone.scope, clone.outputs.op.name) == ("", "loss")
