import collections

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame.session.prepared import PreparedCalls
from tf_frame.testing.session_runs import counted_runs

Pair = collections.namedtuple("Pair", "left right")


@pytest.fixture
def prepared():
    with tf.Graph().as_default(), tf.Session() as session:
        yield PreparedCalls(session)


def test_fetches_come_back_in_their_form(prepared):
    one, two = tf.constant(1), tf.constant([2.0, 3.0])
    fetches = {"a": [one, (two, "Const:0")], 5: Pair(one, {"b": two}), "none": [], "op": two.op}
    ordered = collections.OrderedDict(z=one, y=two)
    found = prepared.run({**fetches, "ordered": ordered})
    assert found["a"][0] == 1
    assert isinstance(found["a"][1], tuple)
    np.testing.assert_array_equal(found["a"][1][0], [2.0, 3.0])
    assert found["a"][1][1] == 1
    assert isinstance(found[5], Pair)
    assert found[5].left == 1
    assert found["none"] == []
    assert found["op"] is None
    assert list(found["ordered"]) == ["z", "y"]
    assert isinstance(found["ordered"], collections.OrderedDict)


def test_a_single_tensor_comes_back_as_its_value(prepared):
    assert prepared.run(tf.constant(7)) == 7
    assert prepared.run("Const:0") == 7


@pytest.mark.usefixtures("variable_mode")
def test_variables_and_sparse_tensors_can_be_fetched(prepared):
    variable = tf.get_variable("v", [], initializer=tf.ones_initializer())
    sparse = tf.SparseTensor([[1]], [5.0], [3])
    prepared.session.run(variable.initializer)
    found = prepared.run({"variable": variable, "sparse": sparse})
    assert found["variable"] == 1
    assert found["sparse"].values == [5.0]


def test_an_assignment_that_is_asked_for_twice_runs_once(prepared):
    variable = tf.get_variable("v", [], initializer=tf.zeros_initializer())
    prepared.session.run(variable.initializer)
    added = variable.assign_add(1.0, read_value=False)
    for number in (1, 2):
        prepared.run([added, {"again": added}])
        assert prepared.session.run(variable) == number


def test_a_call_returns_the_values_of_tensors_in_their_order(prepared):
    one, two = tf.constant(1), tf.constant(2)
    assert prepared.call([two, one.op, one])() == [2, 1]


def test_the_same_set_of_fetches_is_prepared_once(prepared):
    one, two = tf.constant(1), tf.constant(2)
    with counted_runs() as count:
        prepared.call([one, two])
        assert prepared.run({"a": two, "b": [one, "Const:0"]}) == {"a": 2, "b": [1, 1]}
        assert count.prepared == 1
        assert prepared.run([one, two.op]) == [1, None]
        assert count.prepared == 2
    assert count.runs == 0


def test_the_inside_of_a_branch_cannot_be_fetched(prepared):
    tensor = tf.constant(1)
    tensor.graph.prevent_fetching(tensor.op)
    with pytest.raises(ValueError, match="marked as not fetchable"):
        prepared.run({"inside": tensor})


def test_what_has_no_name_is_not_taken_for_what_was_there_before(prepared):
    for number in range(30):
        # Each may come to lie where the one before it lay.
        found = prepared.run({"sparse": tf.SparseTensor([[1]], [float(number)], [3])})
        assert found["sparse"].values == [number]
