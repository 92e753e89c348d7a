"""`--loss_average_decay` in a training graph, where summaries are written now and then."""

import pytest
import tensorflow.compat.v1 as tf

from tf_frame.config.run_options import RunOptions
from tf_frame.testing.toy import build_toy_graph


@pytest.mark.usefixtures("variable_mode")
def test_the_averages_count_the_steps_between_two_summaries():
    config = RunOptions(train_batch_size=8, learning_rate=0.1, loss_average_decay=0.5)
    train_graph = build_toy_graph(config, optimizer="sgd")
    with train_graph.graph.as_default(), tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        session.run(tf.tables_initializer())
        losses = [session.run(train_graph.train_op) for _ in range(2)]
        last, summary = session.run((train_graph.train_op, train_graph.summary_op))
    values = {v.tag: v.simple_value for v in tf.Summary.FromString(summary).value}
    expected = losses[0] / 8 + losses[1] / 4 + last / 2
    assert values["losses/total"] == pytest.approx(expected, rel=1e-5)
