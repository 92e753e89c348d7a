"""`--summarize_variables`: which variables get a histogram, and how it is called."""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame import layers
from tf_frame.graph.summaries import variable_histograms


@pytest.mark.usefixtures("variable_mode")
def test_model_variables_are_written_once_though_they_are_trained_too():
    with tf.Graph().as_default(), tf.Session() as session:
        layers.model_variable("both", [2], initializer=tf.ones_initializer())
        tf.get_variable("trained", initializer=tf.constant(3.0))
        zeros = tf.zeros_initializer()
        layers.model_variable("statistics", [1], initializer=zeros, trainable=False)
        tf.get_variable("neither", initializer=tf.constant(1.0), trainable=False)
        layers.model_variable("count", [1], dtype=tf.int32, initializer=zeros, trainable=False)
        summaries = variable_histograms()
        assert tf.get_collection(tf.GraphKeys.SUMMARIES) == []
        session.run(tf.global_variables_initializer())
        found = [tf.Summary.FromString(one).value[0] for one in session.run(summaries)]
    assert sorted(value.tag for value in found) == [
        "variables/both",
        "variables/statistics",
        "variables/trained",
    ]
    sums = {value.tag: value.histo.sum for value in found}
    np.testing.assert_allclose([sums["variables/both"], sums["variables/trained"]], [2.0, 3.0])
