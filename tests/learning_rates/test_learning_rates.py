"""Properties of every learning rate: use in a `tf.cond`, help, no early import of TensorFlow."""

import subprocess
import sys

import pytest
import tensorflow.compat.v1 as tf

from tf_frame.config.option import declared_options
from tf_frame.learning_rates import cosine, exponential, fixed, multi_steps, one_cycle, poly
from tf_frame.plugin.kinds import LEARNING_RATE, check_contract

CLASSES = [
    *(fixed.Fixed, cosine.Cosine, one_cycle.OneCycle, exponential.Exponential, exponential.Step),
    *(poly.Poly, poly.Polynomial, multi_steps.MultiSteps, multi_steps.ManualSteps),
]
NEEDED = {
    multi_steps.MultiSteps: {"boundaries": (10,), "learning_rates": (0.5, 0.05)},
    multi_steps.ManualSteps: {"boundaries": (10,), "learning_rates": (0.5,)},
}


def test_fixed_is_the_learning_rate_at_every_step(make, rates):
    assert rates(make(fixed.Fixed), [0, 1, 1e6]) == pytest.approx([0.1] * 3)


@pytest.mark.parametrize("cls", CLASSES)
def test_it_keeps_the_contract_and_explains_its_options(cls):
    assert not check_contract(cls, LEARNING_RATE)
    assert all(option.help for option in declared_options(cls.Params))


@pytest.mark.parametrize("cls", CLASSES)
def test_a_learning_rate_can_be_built_in_a_branch(make, cls):
    schedule = make(cls, **NEEDED.get(cls, {}))
    with tf.Graph().as_default(), tf.Session() as session:
        step, is_taken = tf.constant(3.0), tf.placeholder(tf.bool, [])
        branch = tf.cond(is_taken, lambda: schedule(step), lambda: tf.constant(-1.0))
        outside = session.run(schedule(step))
        assert session.run(branch, {is_taken: True}) == outside > 0


def test_no_learning_rate_module_loads_tensorflow_before_it_is_used():
    modules = ",".join({cls.__module__ for cls in CLASSES})
    code = f"import sys, {modules}; sys.exit('tensorflow' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
