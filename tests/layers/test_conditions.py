import pytest
import tensorflow.compat.v1 as tf

from tf_frame.layers.conditions import constant_value, smart_cond, smart_where


def test_what_is_known_when_the_graph_is_built():
    assert constant_value(True) is True
    assert constant_value(tf.constant(3)) == 3
    assert constant_value(tf.placeholder(tf.bool, [])) is None
    assert constant_value(tf.get_variable("switch", initializer=True)) is None
    with pytest.raises(ValueError, match="cannot be None"):
        constant_value(None)
    with pytest.raises(ValueError, match="wrong type"):
        constant_value(tf.constant(3), tf.bool)


def test_only_an_unknown_choice_makes_control_flow():
    one, two = (lambda: tf.constant(1)), (lambda: tf.constant(2))
    known = [smart_cond(pred, one, two) for pred in (True, tf.constant(False))]
    assert not [op for op in tf.get_default_graph().get_operations() if op.type != "Const"]
    pred = tf.placeholder(tf.bool, [])
    unknown = [smart_cond(pred, one, two), smart_where(pred, tf.constant(1), 2)]
    with tf.Session() as session:
        assert session.run(known) == [1, 2]
        assert session.run(unknown, {pred: True}) == [1, 1]
        assert session.run(unknown, {pred: False}) == [2, 2]
    with pytest.raises(TypeError, match="fn2 must be callable"):
        smart_cond(True, one, 2)


def test_a_known_choice_returns_the_tensor_itself():
    tensor = tf.constant(1.0)
    assert smart_where(True, tensor, 0.0) is tensor
    assert smart_where(tf.constant(False), tensor, 0.0) == 0.0
