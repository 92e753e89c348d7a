"""Properties of every optimizer: use in a `tf.cond`, devices of slots, help without TensorFlow."""

import subprocess
import sys

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from sessions import initialized_session
from tf_frame.config.option import declared_options
from tf_frame.deploy.deployment_config import DeploymentConfig
from tf_frame.deploy.placement import variables_placed
from tf_frame.optimizers import adamw, built_in
from tf_frame.plugin.kinds import OPTIMIZER, check_contract

CLASSES = [
    *(built_in.SGD, built_in.Momentum, built_in.Adam, built_in.RMSProp, built_in.Adagrad),
    *(built_in.Adadelta, built_in.Ftrl, adamw.AdamW, adamw.Lamb),
]
each_optimizer = pytest.mark.parametrize("cls", CLASSES)


@each_optimizer
def test_it_keeps_the_contract_and_explains_its_options(cls):
    assert not check_contract(cls, OPTIMIZER)
    assert all(option.help for option in declared_options(cls.Params))


@pytest.fixture
def control_flow(variable_mode):
    """Branches of switches can hold reference variables, branches of functions cannot."""
    if variable_mode == "resource":
        yield
        return
    tf.disable_control_flow_v2()
    yield
    tf.enable_control_flow_v2()


@each_optimizer
def test_an_update_in_a_branch_happens_only_when_the_branch_is_taken(make, cls, control_flow):
    start = np.float32([1.0, 2.0])
    with tf.Graph().as_default():
        weights = tf.get_variable("weights", initializer=start)
        step = tf.train.create_global_step()
        is_taken = tf.placeholder(tf.bool, [])
        optimizer = make(cls)(tf.constant(0.5))
        update = tf.cond(
            is_taken,
            lambda: tf.group(optimizer.apply_gradients([(weights * 2, weights)], step)),
            lambda: tf.no_op(),
        )
        with initialized_session() as session:
            before = session.run(tf.global_variables())
            session.run(update, {is_taken: False})
            for value, later in zip(before, session.run(tf.global_variables()), strict=True):
                np.testing.assert_array_equal(value, later)
            session.run(update, {is_taken: True})
            assert session.run(step) == 1
            assert np.all(session.run(weights) < start)


@each_optimizer
def test_slots_live_on_the_parameter_servers_of_their_variables(make, cls, variable_mode):
    config = DeploymentConfig(num_ps_tasks=2, num_replicas=2)
    with tf.Graph().as_default(), variables_placed(config):
        weights = [tf.get_variable(name, [2], tf.float32) for name in ("first", "second")]
        optimizer = make(cls)(tf.constant(0.5))
        with tf.device(config.optimizer_device()):
            optimizer.apply_gradients([(variable * 2, variable) for variable in weights])
        assert {variable.device for variable in weights} == {
            "/job:ps/task:0/device:CPU:0",
            "/job:ps/task:1/device:CPU:0",
        }
        slots = optimizer.get_slot_names()
        assert slots or cls is built_in.SGD
        for slot in slots:
            for variable in weights:
                assert optimizer.get_slot(variable, slot).device == variable.device
        assert all(v.device.startswith("/job:ps") for v in optimizer.variables())


@pytest.mark.parametrize("cls", [adamw.AdamW, adamw.Lamb])
def test_steps_are_counted_next_to_the_same_variable_on_every_worker(make, cls):
    config = DeploymentConfig(num_ps_tasks=2, num_replicas=2)
    with tf.Graph().as_default(), variables_placed(config):
        weights = [tf.get_variable(name, [2], tf.float32) for name in ("z", "a")]
        optimizer = make(cls)(tf.constant(0.5))
        optimizer.apply_gradients([(variable * 2, variable) for variable in weights])
        powers = [v for v in optimizer.variables() if "power" in v.op.name]
        assert [v.device for v in powers] == [weights[1].device] * 2
        assert weights[0].device != weights[1].device


def test_no_optimizer_module_loads_tensorflow_before_it_is_used():
    code = "import sys; from tf_frame.optimizers import adamw, built_in; "
    code += "sys.exit('tensorflow' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
