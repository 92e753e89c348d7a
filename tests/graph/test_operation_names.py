"""The names under which old programs and tools look for the operations of a training graph."""

import pytest

from tf_frame.config.run_options import RunOptions
from tf_frame.testing.toy import build_toy_graph


@pytest.mark.usefixtures("variable_mode")
@pytest.mark.parametrize("l2", [0.0, 0.1])
@pytest.mark.parametrize("num_clones", [1, 2])
def test_operations_have_the_names_of_the_legacy_trainers(num_clones, l2):
    config = RunOptions(train_batch_size=8, num_clones=num_clones)
    train_graph = build_toy_graph(config, values={"model.l2": l2})
    assert train_graph.train_op.op.name == "train_op"
    assert train_graph.total_loss.op.name == "total_loss"
    assert train_graph.learning_rate.op.name == "learning_rate"
    assert train_graph.summary_op.op.name == "summary_op/summary_op"
    assert train_graph.global_step.op.name == "global_step"
    assert train_graph.graph.get_operation_by_name("update_barrier").type == "NoOp"
