"""Uninitialized variables are named as TensorFlow's scaffold does."""

import pytest
import tensorflow.compat.v1 as tf

from slow_cases import slow_but
from tf_frame.graph.ready import add_ready_operations, uninitialized_names

pytestmark = pytest.mark.usefixtures("graph", "variable_mode")


def variables():
    """Makes two global variables, the second in two parts, and a local one."""
    tf.get_variable("first", [2])
    parts = {"partitioner": tf.fixed_size_partitioner(2)}
    tf.get_variable("second", [4], **parts)
    tf.get_variable("third", [], collections=[tf.GraphKeys.LOCAL_VARIABLES])


def finalised(add):
    """A finalised scaffold with operations of its own, or ours."""
    with tf.Graph().as_default():
        variables()
        if add:
            add_ready_operations()
        return tf.train.Scaffold().finalize()


@pytest.mark.parametrize(
    "assigned",
    slow_but((0, 2, -1), [[], ["first"], ["first", "second/part_1"], ["third"], None]),
    ids=str,
)
def test_names_are_those_of_tensorflow_whichever_variables_have_values(assigned):
    found = names(finalised(True), assigned)
    assert found == names(finalised(False), assigned)
    assert bool(found[0]) == (assigned is not None)


def names(scaffold, assigned):
    """Names of `ready_op` and `ready_for_local_init_op` once these variables have values."""
    graph = scaffold.ready_op.graph
    keys = (tf.GraphKeys.GLOBAL_VARIABLES, tf.GraphKeys.LOCAL_VARIABLES)
    every = {each.op.name: each for key in keys for each in graph.get_collection(key)}
    with tf.Session(graph=graph) as session:
        session.run([every[name].initializer for name in (every if assigned is None else assigned)])
        operations = [scaffold.ready_op, scaffold.ready_for_local_init_op]
        return [found.tolist() for found in session.run(operations)]


def test_a_graph_keeps_its_own_operations():
    tf.get_variable("first", [2])
    own = tf.constant(["waits"])
    tf.add_to_collection(tf.GraphKeys.READY_OP, own)
    add_ready_operations()
    assert tf.get_collection(tf.GraphKeys.READY_OP) == [own]
    assert not tf.get_collection(tf.GraphKeys.READY_FOR_LOCAL_INIT_OP)
    tf.get_default_graph().finalize()
    add_ready_operations()


def test_no_variables_have_no_names():
    names = uninitialized_names([])
    with tf.Session() as session:
        assert session.run(names).tolist() == []


def test_operations_of_a_program_do_not_count():
    first = tf.get_variable("first", [2])
    with tf.control_dependencies([tf.debugging.Assert(False, ["this shall not run"])]):
        for _ in range(9):
            tf.is_variable_initialized(first)
    with tf.Session() as session:
        assert session.run(uninitialized_names([first])).tolist() == [b"first"]


def test_resource_variables_have_the_operation_already(variable_mode):
    variables()
    before = len(tf.get_default_graph().get_operations())
    uninitialized_names(tf.global_variables())
    added = tf.get_default_graph().get_operations()[before:]
    asked = [op for op in added if "IsInitialized" in op.type or "IsVariableInitialized" in op.type]
    assert len(asked) == (3 if variable_mode == "reference" else 0)
