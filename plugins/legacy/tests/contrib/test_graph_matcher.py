"""Patterns of operations, as rewriters of graphs use them."""

import pytest
import tensorflow.compat.v1 as tf

from tf_frame_legacy.contrib.graph_matcher import GraphMatcher, OneofPattern, OpTypePattern


@pytest.fixture
def outputs(graph):
    x = tf.placeholder(tf.float32, [2], name="x")
    added = tf.add(x, tf.constant([1.0, 2.0], name="bias"), name="added")
    return tf.nn.relu(added, name="relu"), tf.nn.relu6(tf.constant(1.0), name="relu6")


def test_inputs_match_in_their_order_or_in_any(outputs):
    relu = outputs[0].op
    bias = OpTypePattern("Const", name="bias")
    ordered = OpTypePattern("Relu", inputs=[OpTypePattern("AddV2|Add", inputs=[bias, "*"])])
    assert GraphMatcher(ordered).match_op(relu) is None
    add = OpTypePattern("AddV2|Add", inputs=[bias, "*"], ordered_inputs=False)
    result = GraphMatcher(OpTypePattern("Relu", inputs=[add])).match_op(relu)
    assert result.get_op("bias").name == result.get_op(bias).name == "bias"
    assert result.get_tensor(add).name == "added:0"
    assert result.get_op("other") is None
    with pytest.raises(ValueError, match="not Pattern or str"):
        result.get_op(3)


def test_one_of_several_patterns_in_a_graph(outputs, graph):
    pattern = OneofPattern([OpTypePattern("Relu", name="a"), OpTypePattern("Relu6", name="a")])
    found = [result.get_op("a").name for result in GraphMatcher(pattern).match_graph(graph)]
    assert found == ["relu", "relu6"]
    assert not list(GraphMatcher(OpTypePattern("Relu", inputs=["*", "*"])).match_graph(graph))
