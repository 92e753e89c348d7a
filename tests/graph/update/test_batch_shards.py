"""`--batch_shards`: the sum over the shards does not depend on the number of workers."""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame.config.run_options import RunOptions
from tf_frame.deploy.deployment_config import DeploymentConfig
from tf_frame.errors import ConfigError
from tf_frame.graph.update.batch_shards import BatchShards, batch_shards, dense_gradients


def options(shards, workers=1, task=0, **more):
    return RunOptions(
        train_batch_size=shards * 2,
        batch_shards=shards,
        worker_replicas=workers,
        task=task,
        **more,
    )


def split(shards, workers):
    return [options(shards, workers, task).input_shards(task) for task in range(workers)]


@pytest.mark.parametrize("shards", [1, 2, 3, 4, 7, 8])
def test_every_shard_has_one_worker_and_every_worker_has_shards(shards):
    for workers in range(1, shards + 1):
        parts = split(shards, workers)
        assert [shard for part in parts for shard in part] == list(range(shards))
        assert max(map(len, parts)) - min(map(len, parts)) <= 1


def of_worker(shards, parts, own):
    return BatchShards(shards, parts, own, None)


@pytest.mark.parametrize("shards", [1, 2, 3, 4, 7, 8])
def test_the_sum_is_the_same_to_the_last_bit_for_any_number_of_workers(shards):
    random = np.random.RandomState(shards)
    # Of very different sizes, so that each order of the sum rounds in another way.
    values = (random.randn(shards, 50) * 10.0 ** random.randint(-4, 5, (shards, 50))).astype("f")
    sums = []
    with tf.Graph().as_default(), tf.Session() as session:
        leaves = [[tf.constant(row)] for row in values]
        for workers in range(1, shards + 1):
            parts = split(shards, workers)
            sent = {}
            for own in parts:
                worker = of_worker(shards, parts, own)
                sent |= worker.own_sums([leaves[shard] for shard in own])
            assert sorted(sent) == worker.nodes
            sums.append(session.run(worker.total(sent)[0]))
    assert {total.tobytes() for total in sums} == {sums[0].tobytes()}
    np.testing.assert_allclose(sums[0], values.astype("d").sum(axis=0), rtol=1e-3, atol=0.1)
    if shards > 3:
        in_turn = np.add.reduce(values)
        assert in_turn.tobytes() != sums[0].tobytes()


def test_a_variable_of_the_penalty_alone_has_zeros_in_the_other_shards():
    with tf.Graph().as_default(), tf.Session() as session:
        both, alone, unused = (tf.get_variable(name, [2]) for name in ("both", "alone", "unused"))
        penalty = tf.nn.l2_loss(alone)
        pairs = [(tf.ones([2]), both), (None, alone), (None, unused)]
        indices, dense = dense_gradients([pairs], penalty)
        assert indices == [0, 1]
        assert session.run(dense[0][1]).tolist() == [0, 0]
        assert dense_gradients([pairs], None)[0] == [0]


def test_sparse_gradients_become_dense():
    with tf.Graph().as_default(), tf.Session() as session:
        table = tf.get_variable("table", [3, 2])
        rows = tf.IndexedSlices(tf.ones([2, 2]), tf.constant([1, 1]), tf.constant([3, 2]))
        dense = dense_gradients([[(rows, table)]], None)[1]
        assert session.run(dense[0][0]).tolist() == [[0, 0], [2, 2], [0, 0]]


def test_without_the_option_there_are_none():
    assert batch_shards(RunOptions(), DeploymentConfig()) is None


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"workers": 5}, "--batch_shards 4 are too few for 5 workers"),
        ({"num_clones": 2}, "cannot be combined with --num_clones 2"),
        ({"overfit_batches": 1}, "cannot be combined with --overfit_batches 1"),
        ({"update_ops": "all_clones"}, "cannot be combined with --update_ops all_clones"),
        ({"gradient_reduction": "all_reduce"}, "cannot be combined with --gradient_reduction"),
        ({"num_ps_tasks": 1}, "with parameter servers needs --sync_replicas"),
        (
            {"num_ps_tasks": 1, "workers": 2, "sync_replicas": True, "replicas_to_aggregate": 1},
            "cannot be combined with --replicas_to_aggregate 1",
        ),
    ],
)
def test_options_that_depend_on_the_number_of_workers_are_refused(more, message):
    with pytest.raises(ConfigError, match=message):
        options(4, **more)


def test_the_batch_is_divided_by_the_shards():
    assert options(4, 3, 1).clone_batch_size == 2
    assert [options(4, 3, task).worker_batch_size for task in range(3)] == [2, 2, 4]
    assert {options(4, workers).update_batch_size for workers in (1, 2, 3, 4)} == {8}
    with pytest.raises(ConfigError, match="9 is not divisible by --batch_shards 4"):
        RunOptions(train_batch_size=9, batch_shards=4)
