import pytest
import tensorflow.compat.v1 as tf

from tf_frame.graph.graph_edits import ancestors
from tf_frame.profiling.step_graph import (
    BACKWARD,
    FORWARD,
    UPDATE,
    computed,
    kept_tensors,
    phases,
    scope_outputs,
)


@pytest.fixture(scope="module")
def operations():
    """A training step of two dense layers, the first with ReLU and dropout."""
    with tf.Graph().as_default():
        images = tf.placeholder(tf.float32, [8, 5], name="images")
        with tf.variable_scope("first"):
            weights = tf.get_variable("weights", [5, 4], use_resource=False)
            hidden = tf.nn.relu(tf.matmul(images, weights), name="relu")
            mask = tf.cast(tf.random_uniform([8, 4]) > 0.5, tf.float32, name="mask")
        with tf.variable_scope("second"):
            weights = tf.get_variable("weights", [4, 3], use_resource=True)
            kept = tf.identity(tf.reshape(hidden * mask, [8, 4]))
            logits = tf.matmul(kept, weights, name="logits")
        loss = tf.reduce_sum(tf.square(logits), name="loss")
        step = tf.train.GradientDescentOptimizer(0.1).minimize(loss, name="step")
        with tf.control_dependencies([step]):
            return ancestors([tf.identity(loss, name="end")])


def test_phases_kept_tensors_and_outputs(operations):
    found = phases(operations)
    assert found["first/relu"] == FORWARD
    assert found["gradients/first/MatMul_grad/MatMul_1"] == BACKWARD
    assert found["step"] == UPDATE
    # Gradients: of the square its input, of the product with weights the images, `kept` (which
    # shares its memory with the product of hidden and mask), of ReLU its output, of the product
    # both factors.
    kept = {tensor.op.name for tensor in kept_tensors(operations)}
    assert kept == {"images", "first/relu", "first/mask", "second/mul", "second/logits"}
    outputs = {scope: tensor.op.name for scope, tensor in scope_outputs(operations).items()}
    random = {"first/random_uniform": "first/random_uniform/RandomUniform"}
    assert outputs == {"first": "first/mask", "second": "second/logits"} | random


def test_unread_operations_are_not_computed_but_updates_are(operations):
    names = {op.name for op in computed(operations, operations[-1])}
    assert "gradients/first/MatMul_grad/MatMul_1" in names
    # Of the images.
    assert "gradients/first/MatMul_grad/MatMul" not in names
    kinds = {op.type for op in computed(operations, operations[-1])}
    assert {"ApplyGradientDescent", "ResourceApplyGradientDescent"} <= kinds
