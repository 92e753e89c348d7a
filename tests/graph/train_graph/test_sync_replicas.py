"""`--sync_replicas` in the training graph: who updates, who averages, and the hook for it."""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame.config.run_options import RunOptions
from tf_frame.graph.update.sync_replicas_hook import SyncReplicasHook
from tf_frame.testing.toy import build_toy_graph

# What synchronises may wait for ever.
pytestmark = pytest.mark.timeout(60)

OPTIONS = {"learning_rate": 0.1, "train_batch_size": 8}


def weights_after(train_graph, steps):
    with train_graph.graph.as_default():
        (weights,) = [v for v in tf.trainable_variables() if v.op.name == "linear/weights"]
        creator = tf.train.ChiefSessionCreator(train_graph.scaffold)
        hooks = [train_graph.sync_replicas.session_hook()] if train_graph.sync_replicas else []
        with tf.train.MonitoredSession(creator, hooks=hooks) as session:
            for _ in range(steps):
                session.run(train_graph.train_op)
            return session.run(weights)


@pytest.mark.usefixtures("variable_mode")
def test_a_single_synchronous_worker_takes_the_steps_of_an_ordinary_one():
    alone = build_toy_graph(RunOptions(**OPTIONS), optimizer="sgd")
    synchronised = build_toy_graph(RunOptions(**OPTIONS, sync_replicas=True), optimizer="sgd")
    assert alone.hooks == synchronised.hooks == []
    assert alone.sync_replicas is None
    assert isinstance(synchronised.sync_replicas.session_hook(), SyncReplicasHook)
    expected = weights_after(alone, 3)
    assert np.abs(expected).max() > 0.1
    np.testing.assert_allclose(weights_after(synchronised, 3), expected, rtol=0, atol=1e-6)


@pytest.mark.usefixtures("variable_mode")
@pytest.mark.parametrize("sync_replicas", [False, True])
def test_averages_are_moved_in_one_place_only(sync_replicas):
    config = RunOptions(**OPTIONS, sync_replicas=sync_replicas, moving_average_decay=0.5)
    train_graph = build_toy_graph(config, optimizer="sgd")
    operations = train_graph.graph.get_operations()
    moves = [op for op in operations if "AssignMovingAvg" in op.name and "AssignSub" in op.type]
    assert len(moves) == len(train_graph.model_variables) - 1
