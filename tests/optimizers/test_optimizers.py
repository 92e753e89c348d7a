"""Properties of every optimizer: use in a `tf.cond`, devices of slots, help without TensorFlow."""

import importlib
import subprocess
import sys

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame.config.option import options_of
from tf_frame.deploy.deployment_config import DeploymentConfig
from tf_frame.deploy.placement import variables_placed
from tf_frame.plugin.kinds import OPTIMIZER, check_contract

CLASSES = {
    "sgd": "SGD",
    "momentum": "Momentum",
    "adam": "Adam",
    "adamw": "AdamW",
    "rmsprop": "RMSProp",
    "adagrad": "Adagrad",
    "adadelta": "Adadelta",
    "ftrl": "Ftrl",
    "lamb": "Lamb",
}
each_optimizer = pytest.mark.parametrize("name", CLASSES)


def class_of(name):
    return getattr(importlib.import_module(f"tf_frame.optimizers.{name}"), CLASSES[name])


@each_optimizer
def test_it_keeps_the_contract_and_explains_its_options(name):
    assert not check_contract(class_of(name), OPTIMIZER)
    for option in options_of(class_of(name).Params):
        option.check_definition()
        assert option.help


@pytest.fixture
def control_flow(variable_mode):
    """Branches of functions cannot hold reference variables; those of switches can."""
    if variable_mode == "resource":
        yield
        return
    tf.disable_control_flow_v2()
    yield
    tf.enable_control_flow_v2()


@each_optimizer
def test_an_update_in_a_branch_happens_only_when_the_branch_is_taken(make, name, control_flow):
    start = np.float32([1.0, 2.0])
    with tf.Graph().as_default(), tf.Session() as session:
        weights = tf.get_variable("weights", initializer=start)
        step = tf.train.create_global_step()
        taken = tf.placeholder(tf.bool, [])
        optimizer = make(class_of(name))(tf.constant(0.5))
        update = tf.cond(
            taken,
            lambda: tf.group(optimizer.apply_gradients([(weights * 2, weights)], step)),
            lambda: tf.no_op(),
        )
        session.run(tf.global_variables_initializer())
        session.run(update, {taken: False})
        before = session.run(tf.global_variables())
        session.run(update, {taken: False})
        for left, right in zip(before, session.run(tf.global_variables()), strict=True):
            np.testing.assert_array_equal(left, right)
        session.run(update, {taken: True})
        assert session.run(step) == 1
        assert np.all(session.run(weights) < start)


@each_optimizer
def test_slots_live_on_the_parameter_servers_of_their_variables(make, name, variable_mode):
    config = DeploymentConfig(num_ps_tasks=2, num_replicas=2)
    with tf.Graph().as_default(), variables_placed(config):
        weights = [tf.get_variable(each, [2], tf.float32) for each in ("first", "second")]
        optimizer = make(class_of(name))(tf.constant(0.5))
        with tf.device(config.optimizer_device()):
            optimizer.apply_gradients([(each * 2, each) for each in weights])
        assert {each.device for each in weights} == {
            "/job:ps/task:0/device:CPU:0",
            "/job:ps/task:1/device:CPU:0",
        }
        slots = optimizer.get_slot_names()
        assert slots or name == "sgd"
        for slot in slots:
            for each in weights:
                assert optimizer.get_slot(each, slot).device == each.device
        assert all(each.device.startswith("/job:ps") for each in optimizer.variables())


@pytest.mark.parametrize("name", ["adamw", "lamb"])
def test_steps_are_counted_beside_the_same_variable_on_every_worker(make, name):
    config = DeploymentConfig(num_ps_tasks=2, num_replicas=2)
    with tf.Graph().as_default(), variables_placed(config):
        weights = [tf.get_variable(each, [2], tf.float32) for each in ("z", "a")]
        optimizer = make(class_of(name))(tf.constant(0.5))
        optimizer.apply_gradients([(each * 2, each) for each in weights])
        powers = [v for v in optimizer.variables() if "power" in v.op.name]
        assert [v.device for v in powers] == [weights[1].device] * 2
        assert weights[0].device != weights[1].device


def test_no_optimizer_module_loads_tensorflow_before_it_is_used():
    modules = ",".join(f"tf_frame.optimizers.{name}" for name in CLASSES)
    code = f"import sys, {modules}; sys.exit('tensorflow' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
