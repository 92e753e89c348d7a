"""Properties of every learning rate: use in a `tf.cond`, help, no early import of TensorFlow."""

import importlib
import subprocess
import sys

import pytest
import tensorflow.compat.v1 as tf

from tf_frame.config.option import options_of
from tf_frame.plugin.kinds import LEARNING_RATE, check_contract

CLASSES = {
    "fixed": "Fixed",
    "exponential": "Exponential",
    "poly": "Poly",
    "polynomial": "Polynomial",
    "cosine": "Cosine",
    "step": "Step",
    "multi_steps": "MultiSteps",
    "manual_steps": "ManualSteps",
    "one_cycle": "OneCycle",
}
NEEDED = {
    "multi_steps": {"boundaries": (10,), "learning_rates": (0.5, 0.05)},
    "manual_steps": {"boundaries": (10,), "learning_rates": (0.5,)},
}


def class_of(name):
    return getattr(importlib.import_module(f"tf_frame.learning_rates.{name}"), CLASSES[name])


@pytest.mark.parametrize("name", CLASSES)
def test_it_keeps_the_contract_and_explains_its_options(name):
    assert not check_contract(class_of(name), LEARNING_RATE)
    for option in options_of(class_of(name).Params):
        option.check_definition()
        assert option.help


@pytest.mark.parametrize("name", CLASSES)
def test_a_learning_rate_can_be_built_in_a_branch(make, name):
    schedule = make(class_of(name), **NEEDED.get(name, {}))
    with tf.Graph().as_default(), tf.Session() as session:
        step, taken = tf.constant(3.0), tf.placeholder(tf.bool, [])
        branch = tf.cond(taken, lambda: schedule(step), lambda: tf.constant(-1.0))
        outside = session.run(schedule(step))
        assert session.run(branch, {taken: True}) == outside > 0


def test_no_learning_rate_module_loads_tensorflow_before_it_is_used():
    modules = ",".join(f"tf_frame.learning_rates.{name}" for name in CLASSES)
    code = f"import sys, {modules}; sys.exit('tensorflow' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
