"""All-reduce between clones on logical CPUs, and what needs no second worker."""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame.deploy.clones import Clone
from tf_frame.deploy.deployment_config import DeploymentConfig
from tf_frame.errors import ConfigError
from tf_frame.gradient_transforms.values import on_values
from tf_frame.graph.graph_edits import ancestors
from tf_frame.graph.update.all_reduce import AllReduceGroup, sum_by_all_reduce, worker_group
from tf_frame.graph.update.collectives import Collectives
from tf_frame.graph.update.gradients import sum_gradients

DEVICES = [f"/device:CPU:{i}" for i in range(3)]
RANDOM = np.random.RandomState(5)


def session():
    return tf.Session(config=tf.ConfigProto(device_count={"CPU": 3}))


def clones_on(devices):
    return [Clone(None, f"clone_{i}/", device) for i, device in enumerate(devices)]


def make_gradients(device, variables):
    """Dense of several shapes and types, sparse, and None."""
    weights, bias, narrow, table, unused = variables
    with tf.device(device):
        return [
            (tf.constant(RANDOM.randn(3, 5).astype(np.float32)), weights),
            (tf.constant(RANDOM.randn(), tf.float64), bias),
            (tf.cast(tf.constant(RANDOM.randn(7)), tf.bfloat16), narrow),
            (tf.IndexedSlices(tf.constant(RANDOM.randn(2, 4)), tf.constant([1, 5])), table),
            (None, unused),
        ]


def some_variables():
    zeros = tf.zeros_initializer()
    return [
        tf.get_variable("weights", [3, 5], initializer=zeros),
        tf.get_variable("bias", [], tf.float64, initializer=zeros),
        tf.get_variable("narrow", [7], tf.bfloat16, initializer=zeros),
        tf.get_variable("table", [6, 4], tf.float64, initializer=zeros),
        tf.get_variable("unused", [2], initializer=zeros),
    ]


@pytest.mark.usefixtures("variable_mode")
def test_the_sum_of_clones_is_that_without_all_reduce():
    with tf.Graph().as_default(), session() as opened:
        variables = some_variables()
        gradients = [make_gradients(device, variables) for device in DEVICES]
        found = sum_by_all_reduce(clones_on(DEVICES), gradients)
        expected = sum_gradients(gradients)
        assert [v for _, v in found] == variables
        assert found[4][0] is None
        assert isinstance(found[3][0], tf.IndexedSlices)
        for (value, _), (wanted, _) in zip(found[:4], expected[:4], strict=True):
            assert value.dtype == wanted.dtype
            pair = [on_values(each, lambda x: tf.cast(x, tf.float64)) for each in (value, wanted)]
            pair = [each.values if isinstance(each, tf.IndexedSlices) else each for each in pair]
            np.testing.assert_allclose(*opened.run(pair), rtol=0, atol=1e-1)
            assert pair[0].shape == pair[1].shape


@pytest.mark.usefixtures("variable_mode")
def test_a_buffer_has_the_small_gradients_of_a_type():
    with tf.Graph().as_default() as graph:
        variables = some_variables()
        sum_by_all_reduce(
            clones_on(DEVICES), [make_gradients(device, variables) for device in DEVICES]
        )
        reduced = [op for op in graph.get_operations() if op.type == "CollectiveReduce"]
    assert len(reduced) == 3 * 3  # types times clones; the double one is the bias alone
    assert len({op.get_attr("instance_key") for op in reduced}) == 3
    assert {op.device for op in reduced} == set(DEVICES)


def test_gpus_run_the_collectives_of_their_clones_one_after_the_other():
    devices = ["/device:GPU:0", "/device:GPU:1"]
    with tf.Graph().as_default() as graph:
        tensors = []
        for device in devices:
            with tf.device(device):
                tensors.append([tf.zeros([8]), tf.zeros([8])])
        group = Collectives(2, buffer_bytes=32)
        sums = group.sum_members(tensors, devices)
        reduced = [op for op in graph.get_operations() if op.type == "CollectiveReduce"]
    assert [op.device for op in reduced] == devices * 2
    assert all(set(reduced[:2]) <= set(ancestors([op])) for op in reduced[2:])
    assert [tensor.device for tensor in sums] == [devices[0]] * 2


def test_wrong_devices_and_types_are_refused():
    with pytest.raises(ConfigError, match="clones on different devices; they are on /device:CPU:0"):
        sum_by_all_reduce(clones_on(["/device:CPU:0"] * 2), [[], []])
    with tf.Graph().as_default():
        words = tf.get_variable("words", initializer=tf.constant(["a"]))
        with pytest.raises(ConfigError, match="the variable words has the type string"):
            AllReduceGroup(2).broadcast([words])


def test_the_same_graph_has_the_same_numbers_and_another_has_others():
    def keys(size):
        with tf.Graph().as_default() as graph:
            group = AllReduceGroup(2, device="/device:CPU:0")
            group.sums([tf.zeros([size]), tf.zeros([size], tf.float64)])
            group.agreed([1])
            ops = [op for op in graph.get_operations() if op.type == "CollectiveReduce"]
            return [op.get_attr("instance_key") for op in ops]

    assert keys(600) == keys(600)
    assert len(set(keys(600))) == 3
    assert set(keys(600)[:2]).isdisjoint(keys(700))


def test_slices_of_unknown_number_and_groups_of_workers():
    with tf.Graph().as_default():
        table = tf.get_variable("table", [6, 4])
        indices = tf.placeholder(tf.int32, [None])
        slices = tf.IndexedSlices(tf.zeros([tf.size(indices), 4]), indices, tf.constant([6, 4]))
        ((found, _),) = AllReduceGroup(2).mean_gradients([(slices, table)])
        assert isinstance(found, tf.Tensor)
        assert found.shape == [6, 4]
    alone = DeploymentConfig()
    served = DeploymentConfig(num_replicas=2, num_ps_tasks=1)
    two = DeploymentConfig(num_replicas=2, replica_id=1, all_reduce=True, clone_on_cpu=True)
    with tf.Graph().as_default():
        assert worker_group(alone) is None
        assert worker_group(served) is None
        group = worker_group(two)
        assert group is worker_group(two)
        assert (group.size, group.rank, group.device) == (2, 1, "/device:CPU:0")
    with tf.Graph().as_default():
        assert worker_group(two) is not group
