import tensorflow.compat.v1 as tf

from tf_frame.graph.graph_edits import ancestors


def test_what_a_tensor_needs_comes_in_the_order_of_its_making():
    with tf.Graph().as_default():
        first, apart = tf.constant(1.0, name="first"), tf.constant(2.0, name="apart")
        waited = tf.no_op(name="waited")
        with tf.control_dependencies([waited]):
            end = tf.add(first, first, name="end")
        tf.add(apart, end, name="later")
        assert [op.name for op in ancestors([end])] == ["first", "waited", "end"]
        assert [op.name for op in ancestors([end.op, apart])] == ["first", "apart", "waited", "end"]
    assert ancestors([]) == []
