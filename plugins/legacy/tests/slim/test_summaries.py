"""Summaries have slim's tags and the values of what they show."""

import numpy as np
import tensorflow.compat.v1 as tf

from sessions import initialized_session
from tf_frame_legacy import slim


def merged():
    """Tag -> the summary value, of all summaries of the graph."""
    with initialized_session() as session:
        written = tf.Summary.FromString(session.run(tf.summary.merge_all()))
    return {value.tag: value for value in written.value}


def test_single_tensors_and_lists_have_slims_tags():
    number = tf.constant(3.0, name="number")
    zeros = tf.constant([0.0, 0.0, 0.0, 1.0], name="zeros")
    images = tf.zeros([1, 2, 2, 3], name="images")
    weights = slim.variable("weights", [2], initializer=tf.ones_initializer())
    slim.summaries.add_scalar_summary(number, "Total Loss", prefix="Losses")
    slim.summaries.add_scalar_summaries([number], prefix="all")
    slim.summaries.add_histogram_summary(zeros, "shown")
    slim.summaries.add_histogram_summaries([weights], prefix="variables")
    slim.summaries.add_image_summary(images, "picture")
    slim.summaries.add_image_summaries([images], prefix="all")
    slim.summaries.add_zero_fraction_summary(zeros, "share")
    slim.summaries.add_zero_fraction_summaries([zeros])
    values = merged()
    assert values["Losses/Total_Loss"].simple_value == values["all/number"].simple_value == 3
    assert values["variables/weights"].histo.num == 2
    assert values["shown"].histo.num == 4
    assert values["share/Fraction_of_Zero_Values"].simple_value == 0.75
    assert values["zeros/Fraction_of_Zero_Values"].simple_value == 0.75
    pictures = {tag for tag in values if values[tag].HasField("image")}
    assert pictures == {"picture/image/0", "all/images/image/0"}
    assert len(values) == 8


def test_a_printed_summary_is_the_only_one_in_the_collection(capfd):
    summary = slim.summaries.add_scalar_summary(tf.constant(7.5), "loud", print_summary=True)
    assert tf.get_collection(tf.GraphKeys.SUMMARIES) == [summary]
    slim.summaries.add_image_summary(tf.zeros([1, 1, 1, 1]), "dark", print_summary=True)
    slim.summaries.add_zero_fraction_summary(tf.zeros([2]), "z", print_summary=True)
    assert merged()["loud"].simple_value == 7.5
    printed = capfd.readouterr().err
    assert "loud[7.5]" in printed
    assert "dark[" in printed
    assert "z/Fraction_of_Zero_Values[1]" in printed


def test_activations_show_how_much_is_cut_off():
    inputs = tf.constant([-1.0, 2.0, 7.0, 8.0])
    slim.summarize_activation(tf.nn.relu(inputs, name="relu"))
    slim.summarize_activation(tf.nn.relu6(inputs, name="relu6"))
    slim.summarize_activation(tf.tanh(inputs, name="tanh"))
    values = merged()
    assert set(values) == {
        *(f"{name}/activation" for name in ("relu", "relu6", "tanh")),
        "relu/zeros",
        "relu6/zeros",
        "relu6/sixes",
    }
    assert (values["relu/zeros"].simple_value, values["relu6/sixes"].simple_value) == (0.25, 0.5)
    assert values["relu6/activation"].histo.max == 6


def test_tensors_get_the_kind_of_summary_that_fits():
    scalar, vector = tf.constant(2.0, name="scalar"), tf.constant([1.0, 2.0], name="vector")
    summaries = slim.summarize_tensors([scalar, vector, tf.constant("text"), tf.constant(True)])
    assert [summary is None for summary in summaries] == [False, False, True, True]
    slim.summarize_tensor(scalar, "named")
    values = merged()
    assert set(values) == {"scalar_summary", "vector_summary", "named"}
    assert values["vector_summary"].histo.num == 2
    assert values["named"].simple_value == 2


def test_collections_are_summarised_and_may_be_filtered():
    images = tf.zeros([1, 2, 2, 1])
    with slim.arg_scope([slim.conv2d], outputs_collections=[tf.GraphKeys.ACTIVATIONS]):
        slim.conv2d(images, 2, 1, scope="first")
        slim.conv2d(images, 2, 1, scope="second")
    weights = slim.get_variables_by_name("weights")
    for variable in weights:
        tf.add_to_collection(tf.GraphKeys.WEIGHTS, variable)
    assert len(slim.summarize_activations("first")) == 1
    assert len(slim.summarize_weights()) == 2
    assert len(slim.summarize_variables(name_filter=".*biases")) == 2
    assert slim.summarize_biases() == []
    values = merged()
    assert {"first/Relu/activation", "first/Relu/zeros"} <= set(values)
    assert {"first/weights_summary", "second/weights_summary"} <= set(values)
    assert {"first/biases_summary", "second/biases_summary"} <= set(values)


def test_the_analyser_counts_numbers_and_bytes(capsys, variable_mode):
    kind = "_ref" if variable_mode == "reference" else ""
    with tf.Graph().as_default() as graph:
        tf.placeholder(tf.float32, [None, 3], name="rows")
        tf.constant(np.zeros([2, 5], np.float64), name="table")
        variables = [
            tf.get_variable("single", [3, 4], tf.float32),
            tf.get_variable("double", [2], tf.float64),
        ]
        table = graph.get_tensor_by_name("table:0")
        outputs = [output for op in graph.get_operations() for output in op.outputs]
        sizes = [output.shape.num_elements() or 0 for output in outputs]
        assert slim.model_analyzer.analyze_ops(graph) == sum(sizes)
    assert capsys.readouterr().out == ""
    assert slim.model_analyzer.tensor_description(table) == "(float64 2x5)"
    assert slim.model_analyzer.analyze_vars(variables, print_info=True) == (14, 12 * 4 + 2 * 8)
    assert capsys.readouterr().out.splitlines() == [
        "---------",
        "Variables: name (type shape) [size]",
        "---------",
        f"single:0 (float32{kind} 3x4) [12, bytes: 48]",
        f"double:0 (float64{kind} 2) [2, bytes: 16]",
        "Total size of variables: 14",
        "Total bytes of variables: 64",
    ]
    slim.model_analyzer.analyze_ops(graph, print_info=True)
    assert "table \t-> (float64 2x5) [10]" in capsys.readouterr().out
