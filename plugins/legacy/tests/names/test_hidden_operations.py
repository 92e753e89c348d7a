"""Operations that had an underscore are TensorFlow's own of today."""

import tensorflow.compat.v1 as tf

from tf_frame_legacy.program.view import view


def test_operations_are_there_with_and_without_the_underscore():
    operations = view("tf.python.ops.gen_nn_ops")
    assert operations._relu_grad is operations.relu_grad
    with tf.Graph().as_default(), tf.Session() as session:
        gradients = operations._relu_grad([1.0, 2.0], [-1.0, 1.0])
        assert session.run(gradients).tolist() == [0, 2]
        summary = view("tf.python.ops.gen_logging_ops")._scalar_summary("name", 3.0)
        assert tf.Summary.FromString(session.run(summary)).value[0].tag == "name"
