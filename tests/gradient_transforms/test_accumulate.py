"""Sums over session runs; graph/update/test_apply_gradients.py tests that updates wait for them."""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from sessions import initialized_session
from tf_frame.deploy.deployment_config import DeploymentConfig
from tf_frame.deploy.placement import variables_placed
from tf_frame.errors import ConfigError
from tf_frame.gradient_transforms.accumulate import Accumulate

pytestmark = pytest.mark.usefixtures("graph")


def accumulate(pairs, steps):
    transform = Accumulate(params=Accumulate.Params(steps=steps))
    return transform(pairs), transform.ready()


@pytest.fixture
def fed(variable):
    """A gradient to be fed and the mean of three, as `run(gradient) -> mean, ready`."""
    gradient = tf.placeholder(tf.float32, [2])
    ((mean, _),), ready = accumulate([(gradient, variable("v", [2]))], 3)
    with initialized_session() as session:

        def run(values):
            return session.run((mean, ready), {gradient: values})

        run.mean = lambda values: session.run(mean, {gradient: values})
        run.sums = lambda: session.run(tf.global_variables("accumulate"))
        yield run


@pytest.mark.usefixtures("variable_mode")
def test_every_third_run_is_ready_has_the_mean_and_clears_sums_and_counter(fed):
    for start in (0.0, 10.0):
        assert not fed([start + 1.0, 0.0])[1]
        assert not fed([start + 2.0, 4.0])[1]
        count, total = fed.sums()
        assert count == 2
        np.testing.assert_array_equal(total, [2 * start + 3.0, 4.0])
        mean, ready = fed([start + 6.0, 5.0])
        assert ready
        np.testing.assert_allclose(mean, [start + 3.0, 3.0], rtol=1e-6)
        count, total = fed.sums()
        assert count == 0
        np.testing.assert_array_equal(total, [0.0, 0.0])
    for _ in range(3):
        fed([np.inf, np.nan])
    np.testing.assert_array_equal(fed.sums()[1], [0.0, 0.0])


@pytest.mark.usefixtures("variable_mode")
def test_looking_at_a_mean_counts_for_nothing(fed):
    for _ in range(4):
        np.testing.assert_array_equal(fed.mean([3.0, 6.0]), [1.0, 2.0])
    assert fed.sums()[0] == 0


@pytest.mark.usefixtures("variable_mode")
def test_the_mean_and_what_is_stored_come_from_one_read(variable):
    """A second read might come before or after the update of the sum, by chance."""
    ((mean, _),), _ = accumulate([(tf.ones([3, 2]), variable("v"))], 2)
    total = mean.op.inputs[0]
    assert {op.type for op in total.consumers()} == {"RealDiv", "SelectV2"}


@pytest.mark.usefixtures("variable_mode")
def test_sums_are_global_variables_that_are_not_trained(fed):
    names = ["accumulate/runs", "accumulate/v"]
    assert [v.op.name for v in tf.global_variables() if v.op.name != "v"] == names
    assert [v.op.name for v in tf.trainable_variables()] == ["v"]


@pytest.mark.usefixtures("variable_mode")
def test_sparse_gradients_are_added_up_densely(variable, sparse):
    ((mean, _),), ready = accumulate([(sparse(), variable("v"))], 2)
    with initialized_session() as session:
        session.run((mean, ready))
        value, is_ready = session.run((mean, ready))
    assert is_ready
    np.testing.assert_array_equal(value, [[0.0, 0.0], [3.0, 16.0], [0.0, 0.0]])


def test_none_passes_and_has_no_sum(variable):
    v, w = variable("v"), variable("w")
    pairs, _ = accumulate([(None, v), (tf.ones([3, 2]), w)], 2)
    assert pairs[0] == (None, v)
    assert "accumulate/v" not in [variable.op.name for variable in tf.global_variables()]


def test_one_step_adds_nothing(variable, graph):
    pairs = [(tf.ones([3, 2]), variable("v"))]
    operations = len(graph.get_operations())
    transform = Accumulate(params=Accumulate.Params())
    assert transform(pairs) == pairs
    assert transform.ready() is None
    assert transform.micro_batches == 1
    assert Accumulate(params=Accumulate.Params(steps=4)).micro_batches == 4
    assert len(graph.get_operations()) == operations


def test_two_accumulations_in_one_graph_are_refused(variable):
    pairs, _ = accumulate([(tf.ones([3, 2]), variable("v"))], 2)
    with pytest.raises(ConfigError, match="accumulate is given twice; keep one, with the product"):
        accumulate(pairs, 3)


@pytest.mark.usefixtures("variable_mode")
def test_a_sum_lies_next_to_its_variable_on_the_parameter_server(variable):
    with variables_placed(DeploymentConfig(num_ps_tasks=3)), tf.device("/job:worker/device:CPU:0"):
        variables = [variable(name) for name in "abcd"]
        accumulate([(tf.ones([3, 2]), v) for v in reversed(variables)], 2)
    devices = {v.op.name: v.device for v in tf.global_variables()}
    assert len({devices[name] for name in "abcd"}) == 3
    for name in "abcd":
        assert devices[f"accumulate/{name}"] == devices[name]
    assert devices["accumulate/runs"].startswith("/job:ps/")
