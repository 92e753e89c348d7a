"""Reads of the global step beside its change, which optimizers of users leave without order."""

import time

import pytest
import tensorflow.compat.v1 as tf

from tf_frame.graph.step_reads import read_step_before_change


def slow_reader(step):
    """Twice the step; the operation begins after the step was changed, unless that waits."""
    with tf.control_dependencies([tf.py_func(lambda: time.sleep(0.05), [], [])]):
        return 2 * tf.cast(step, tf.int32)


@pytest.mark.parametrize("resource", [False, True])
def test_operations_beside_the_change_read_the_old_step_and_those_after_it_the_new(
    tmp_path, resource
):
    with tf.Graph().as_default(), tf.variable_scope("", use_resource=resource):
        step = tf.train.get_or_create_global_step()
        saver = tf.train.Saver()
        rate = slow_reader(step)
        change = step.assign(step + 1)
        with tf.control_dependencies([change]):
            after = step.read_value()
        train_op = tf.group(change, rate, after)
        read_step_before_change(train_op, step)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            values = [session.run([train_op, rate, after])[1:] for _ in range(2)]
            path = saver.save(session, str(tmp_path / "model"))
        with tf.Session() as session:
            saver.restore(session, path)
            assert [values, session.run(step)] == [[[0, 1], [2, 2]], 2]


def test_a_graph_whose_change_waits_stays_as_it_is():
    with tf.Graph().as_default() as graph:
        step = tf.train.get_or_create_global_step()
        with tf.control_dependencies([slow_reader(step)]):
            train_op = step.assign_add(1)
        before = graph.as_graph_def()
        read_step_before_change(train_op, step)
        assert graph.as_graph_def() == before
