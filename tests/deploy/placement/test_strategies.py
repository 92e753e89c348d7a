import runpy
from pathlib import Path

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame.deploy.deployment_config import DeploymentConfig
from tf_frame.deploy.placement import (
    Balanced,
    RoundRobin,
    size_bytes,
    variable_sizes,
    variables_placed,
)
from tf_frame.deploy.placement_report import placement_table

BENCH = Path(__file__).parents[3] / "tools" / "bench"


def place_variables(num_ps_tasks, build, strategy_of):
    """Variable name -> task."""
    config = DeploymentConfig(num_ps_tasks=num_ps_tasks)
    with tf.Graph().as_default(), variables_placed(config, strategy_of(config)):
        build()
        return {v.op.name: tf.DeviceSpec.from_string(v.device).task for v in tf.global_variables()}


def make(**lengths):
    """A function that makes float32 vectors of these lengths."""

    def build():
        for name, length in lengths.items():
            tf.get_variable(name, [length], initializer=tf.zeros_initializer())

    return build


@pytest.mark.usefixtures("variable_mode")
def test_strategies_without_and_with_sizes():
    tasks = place_variables(2, make(a=100, b=1, c=100, d=1), RoundRobin)
    assert tasks == {"a": 0, "b": 1, "c": 0, "d": 1}
    tasks = place_variables(2, make(a=5, b=2, c=2, d=2, e=1), Balanced)
    assert tasks == {"a": 0, "b": 1, "c": 1, "d": 1, "e": 0}
    build = make(a=3, b=3, c=2, d=2, e=2)
    tasks = place_variables(2, build, lambda config: Balanced(config, variable_sizes(build)))
    # 3 and 3 part; 2 to task 0, 2 to task 1, and the last to task 0 again.
    assert tasks == {"a": 0, "b": 1, "c": 0, "d": 1, "e": 0}
    build = make(a=4, b=4, c=8)
    tasks = place_variables(2, build, lambda config: Balanced(config, variable_sizes(build)))
    assert tasks == {"a": 1, "b": 1, "c": 0}


def test_plans_and_unknown_sizes():
    config = DeploymentConfig(num_ps_tasks=3)
    sizes = dict.fromkeys("abcdefg", 4)
    backwards = dict(reversed(sizes.items()))
    plans = [Balanced(config, s) for s in (sizes, backwards)]
    assert len({tuple(plan.choose_task(name) for name in sizes) for plan in plans}) == 1

    def sized(config):
        return Balanced(config, {"a": 400, "b": 40})

    assert place_variables(2, make(new=5, a=100, newer=1, b=10), sized) == {
        "new": 1,
        "a": 0,
        "newer": 1,
        "b": 1,
    }
    with tf.Graph().as_default() as graph:
        assert list(variable_sizes(make(b=1, a=2)).items()) == [("b", 4), ("a", 8)]
        assert not graph.get_operations()


@pytest.mark.usefixtures("variable_mode")
def test_slots_count_where_they_are():
    def build():
        large = tf.get_variable("large", [3])
        tf.get_variable("small", [2])
        with tf.variable_scope("slots"), tf.colocate_with(large.op):
            tf.get_variable("of_large", [30])
        tf.get_variable("after", [20])
        tf.get_variable("last", [20])

    tasks = place_variables(2, build, Balanced)
    assert tasks["slots/of_large"] == tasks["large"] == 0
    # 33 numbers on task 0; task 1 still has fewer with 2 and 20.
    assert (tasks["after"], tasks["last"]) == (1, 1)


@pytest.mark.usefixtures("variable_mode")
def test_planned_names_and_unknown_shapes():
    def build():
        with tf.name_scope("outer"), tf.variable_scope("inner"):
            tf.Variable(tf.zeros([7]), name="v")
            tf.Variable(tf.zeros([1]), name="v")
        tf.get_variable("p", [4, 2], partitioner=tf.fixed_size_partitioner(2))

    sizes = variable_sizes(build)
    assert sizes == {"outer/inner/v": 28, "outer/inner/v_1": 4, "p/part_0": 16, "p/part_1": 16}
    tasks = place_variables(2, build, lambda config: Balanced(config, sizes))
    assert tasks == {"outer/inner/v": 0, "outer/inner/v_1": 0, "p/part_0": 1, "p/part_1": 1}

    def build():
        value = tf.placeholder_with_default(np.zeros(9, np.float32), [None])
        tf.get_variable("unknown", initializer=value, validate_shape=False)
        tf.get_variable("known", [1])

    sizes = variable_sizes(build)
    assert sizes == {"known": 4}
    tasks = place_variables(2, build, lambda config: Balanced(config, sizes))
    assert tasks == {"unknown": 1, "known": 0}


@pytest.mark.parametrize(
    ("dtype", "expected"), [(tf.float16, 12), (tf.float64, 48), (tf.bool, 6), (tf.int64, 48)]
)
def test_size_in_bytes_follows_the_type(dtype, expected):
    with tf.Graph().as_default():
        variable = tf.get_variable("v", [2, 3], dtype, initializer=tf.zeros_initializer())
        assert size_bytes(variable) == expected


def inception(num_classes=1001):
    module = runpy.run_path(str(BENCH / "inception_v3.py"))
    return module["inception_v3_variables"](num_classes)


def test_the_list_of_inception_v3_is_the_one_that_slim_counts():
    module = runpy.run_path(str(BENCH / "inception_v3.py"))
    # testModelHasExpectedNumberOfParameters of slim's inception_v3_test.py.
    assert module["num_parameters"](list(module["inception_v3_base"]())) == 21_802_784
    names = [name for name, _ in inception()]
    assert len(set(names)) == len(names)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("strategy", "low", "high"),
    [("planned", 1.0, 1.05), ("as made", 1.0, 1.25), ("round robin", 2.0, 4.0)],
)
def test_inception_v3_over_four_tasks(strategy, low, high):
    def build():
        for name, shape in inception():
            tf.get_variable(name, shape, initializer=tf.zeros_initializer())

    config = DeploymentConfig(num_ps_tasks=4)
    strategies = {
        "planned": lambda: Balanced(config, variable_sizes(build)),
        "as made": lambda: Balanced(config),
        "round robin": lambda: RoundRobin(config),
    }
    with tf.Graph().as_default(), variables_placed(config, strategies[strategy]()):
        build()
        report = placement_table(tf.global_variables(), config)
    assert low <= report.imbalance <= high
    assert report.total.num_bytes == 4 * sum(int(np.prod(shape)) for _, shape in inception())
