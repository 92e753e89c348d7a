import itertools

import pytest
import tensorflow as tf2
import tensorflow.compat.v1 as tf

from pairwise import pairwise
from tf_frame.deploy.clones import create_clones
from tf_frame.deploy.deployment_config import DeploymentConfig
from tf_frame.deploy.placement import variables_placed


def build(config, model_fn, **how):
    with tf.Graph().as_default() as graph, variables_placed(config):
        clones = create_clones(config, model_fn, **how)
    return graph, clones


def global_variables(graph):
    return graph.get_collection(tf.GraphKeys.GLOBAL_VARIABLES)


def three_variables():
    first = tf.get_variable("first", [2, 2])
    second = tf.get_variable("second", [2])
    third = tf.get_variable("third", [])
    return tf.add(tf.matmul(first, first) + second, third, name="sum")


KINDS = {
    "gpu": ({}, "GPU:{}"),
    "clone_on_cpu": ({"clone_on_cpu": True}, "CPU:0"),
    "logical_cpus": ({"clone_device_type": "CPU"}, "CPU:{}"),
}


CLONES, PS_TASKS = (1, 2, 4, 11), (0, 1, 2, 3)


@pytest.mark.parametrize(
    ("num_clones", "num_ps_tasks", "kind", "variable_mode"),
    pairwise(CLONES, PS_TASKS, KINDS, ("resource", "reference")),
    indirect=["variable_mode"],
)
def test_variables_and_clones_land_where_they_belong(num_clones, num_ps_tasks, kind, variable_mode):
    fields, device = KINDS[kind]
    config = DeploymentConfig(num_clones=num_clones, num_ps_tasks=num_ps_tasks, **fields)
    graph, clones = build(config, three_variables)
    worker = "/job:worker" if num_ps_tasks else ""
    for index, clone in enumerate(clones):
        assert clone.device == f"{worker}/device:{device.format(index)}"
        assert clone.outputs.device == clone.device
        assert clone.outputs.op.name == (f"clone_{index}/sum" if num_clones > 1 else "sum")
    assert [v.op.name for v in global_variables(graph)] == ["first", "second", "third"]
    assert [v.device for v in global_variables(graph)] == [
        f"/job:ps/task:{i % num_ps_tasks}/device:CPU:0" if num_ps_tasks else "/device:CPU:0"
        for i in range(3)
    ]
    if variable_mode == "reference":
        # They are read where they live.
        for variable in global_variables(graph):
            assert variable.op.type == "VariableV2"
            assert variable.value().device == variable.device


def test_the_scope_of_clone_1_does_not_hold_what_clone_10_made():
    def add_loss():
        tf.add_to_collection(tf.GraphKeys.LOSSES, tf.constant(1.0))

    graph, clones = build(DeploymentConfig(num_clones=11), add_loss)
    assert clones[1].scope == "clone_1/"
    assert len(graph.get_collection(tf.GraphKeys.LOSSES, clones[1].scope)) == 1


class Dense(tf.Module):
    def __init__(self):
        self.weights = tf2.Variable(tf.ones([3, 2]), name="weights")


def keras_dense():
    import keras

    return keras.layers.Dense(2, name="dense")(tf.ones([1, 3]))


MAKERS = {
    "tf.Variable": (lambda: tf.Variable([1.0], name="v"), ["v"]),
    "tf2.Variable": (lambda: tf2.Variable([1.0], name="v"), ["v"]),
    "tf.Module": (Dense, ["weights"]),
    "keras": (keras_dense, ["dense/kernel", "dense/bias"]),
    "partitioned": (
        lambda: tf.get_variable("p", [5, 2], partitioner=tf.fixed_size_partitioner(3)),
        ["p/part_0", "p/part_1", "p/part_2"],
    ),
    "initial tensor": (lambda: tf.get_variable("v", initializer=tf.ones([2])), ["v"]),
    "no name": (lambda: [tf.Variable(1.0), tf.Variable(2.0)], ["Variable", "Variable_1"]),
}


@pytest.mark.usefixtures("variable_mode")
@pytest.mark.parametrize("num_ps_tasks", [0, 2])
@pytest.mark.parametrize("maker", MAKERS)
def test_variables_of_every_api_are_placed(maker, num_ps_tasks):
    make, names = MAKERS[maker]
    config = DeploymentConfig(num_ps_tasks=num_ps_tasks)
    graph, _ = build(config, make)
    assert [v.op.name for v in global_variables(graph)] == names
    tasks = itertools.cycle(range(max(1, num_ps_tasks)))
    assert [v.device for v in global_variables(graph)] == [
        config.ps_task_device(task) for _, task in zip(names, tasks, strict=False)
    ]


@pytest.mark.usefixtures("variable_mode")
@pytest.mark.parametrize("num_ps_tasks", [0, 1])
def test_devices_that_a_model_asks_for_do_not_move_variables(num_ps_tasks):
    def pinned():
        with tf.device(lambda op: "/job:other/device:GPU:3"):
            return tf.get_variable("v", [1]), tf.constant(1.0)

    config = DeploymentConfig(num_ps_tasks=num_ps_tasks)
    _, (clone,) = build(config, pinned)
    variable, constant = clone.outputs
    assert variable.device == config.ps_task_device(0)
    assert constant.device == "/job:other/device:GPU:3"


@pytest.mark.usefixtures("variable_mode")
def test_slots_stay_beside_their_variable_and_take_no_turn():
    config = DeploymentConfig(num_ps_tasks=4)
    with tf.Graph().as_default(), variables_placed(config):
        variables = [tf.get_variable(name, [2]) for name in "abc"]
        optimizer = tf.train.MomentumOptimizer(0.1, 0.9)
        with tf.device(config.optimizer_device()):
            optimizer.minimize(tf.add_n([tf.reduce_sum(v) for v in variables]))
        averages = tf.train.ExponentialMovingAverage(0.9)
        averages.apply(variables)
        for variable in variables:
            assert optimizer.get_slot(variable, "momentum").device == variable.device
            assert averages.average(variable).device == variable.device
        # a, b, c took tasks 0, 1, 2; the six slots are no variables of their own.
        assert tf.get_variable("next", [1]).device == config.ps_task_device(3)


@pytest.mark.usefixtures("variable_mode")
@pytest.mark.parametrize("num_ps_tasks", [0, 2])
def test_local_variables_belong_to_the_worker(num_ps_tasks):
    config = DeploymentConfig(num_clones=2, num_ps_tasks=num_ps_tasks)
    graph, _ = build(config, lambda: tf.metrics.mean(tf.constant([1.0])))
    local = graph.get_collection(tf.GraphKeys.LOCAL_VARIABLES)
    assert len(local) == 4
    assert {v.device for v in local} == {config.optimizer_device()}


@pytest.mark.usefixtures("variable_mode")
def test_turns_of_the_global_step_and_after_local_variables():
    config = DeploymentConfig(num_clones=2, num_ps_tasks=2)
    with tf.Graph().as_default(), variables_placed(config):
        global_step = tf.train.create_global_step()
        create_clones(config, three_variables)
        devices = [v.device for v in tf.trainable_variables()]
    assert global_step.device == config.ps_task_device(0)
    assert devices == [config.ps_task_device(task) for task in (1, 0, 1)]
    config = DeploymentConfig(num_ps_tasks=2)
    with tf.Graph().as_default(), variables_placed(config):
        tf.get_variable("mine", [1], collections=[tf.GraphKeys.LOCAL_VARIABLES])
        assert tf.get_variable("ours", [1]).device == config.ps_task_device(0)


def static_table():
    words = tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2])
    table = tf.lookup.StaticHashTable(words, -1)
    return table.resource_handle, [table.lookup(tf.constant(["b"])), table.size()]


def vocabulary():
    words = tf.lookup.KeyValueTensorInitializer(["a", "b"], tf.constant([0, 2], tf.int64))
    table = tf.lookup.StaticVocabularyTable(words, 1)
    return table.resource_handle, [table.lookup(tf.constant(["b"]))]


def insert_and_look_up(table):
    inserted = table.insert(tf.constant(["b"]), tf.constant([2], tf.int64))
    with tf.control_dependencies([inserted]):
        return table.resource_handle, [table.lookup(tf.constant(["b"]))]


def mutable_table():
    return insert_and_look_up(tf2.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1))


def dense_table():
    tables = tf2.lookup.experimental
    return insert_and_look_up(tables.DenseHashTable(tf.string, tf.int64, -1, "", "none"))


TABLES = [static_table, vocabulary, mutable_table, dense_table]


@pytest.mark.usefixtures("variable_mode")
@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("num_ps_tasks", [0, 2])
def test_tables_made_in_a_clone_are_placed_like_variables(table, num_ps_tasks):
    config = DeploymentConfig(num_clones=2, num_ps_tasks=num_ps_tasks)
    graph, clones = build(config, table)
    for index, clone in enumerate(clones):
        handle, _ = clone.outputs
        assert handle.device == config.ps_task_device(index % max(1, num_ps_tasks))
    users = [op for op in graph.get_operations() if op.type.startswith("LookupTable")]
    assert users
    for user in users:
        assert user.device == user.inputs[0].device, user.name


@pytest.mark.usefixtures("variable_mode")
@pytest.mark.parametrize("table", TABLES)
def test_tables_work_without_soft_placement(table):
    config = DeploymentConfig(num_clones=2, clone_device_type="CPU")
    graph, clones = build(config, table)
    options = tf.ConfigProto(device_count={"CPU": 2}, allow_soft_placement=False)
    with graph.as_default(), tf.Session(config=options) as session:
        session.run(tf.tables_initializer())
        for clone in clones:
            _, (found, *_) = clone.outputs
            assert session.run(found) == [2]


def test_tables_take_turns_and_other_operations_stay():
    config = DeploymentConfig(num_ps_tasks=3)
    with tf.Graph().as_default(), variables_placed(config):
        first = tf.get_variable("first", [1])
        handle, _ = mutable_table()
        second = tf.get_variable("second", [1])
    devices = [first.device, handle.device, second.device]
    assert devices == [config.ps_task_device(task) for task in range(3)]
    config = DeploymentConfig(num_ps_tasks=2)
    with tf.Graph().as_default(), variables_placed(config):
        with tf.device(None), tf.device(config.inputs_device()):
            handle, (found, _) = static_table()
        assert handle.device == found.device == config.inputs_device()
    config = DeploymentConfig(num_clones=2, num_ps_tasks=1)
    graph, _ = build(config, lambda: tf.constant(1.0, name="one") + 1.0)
    for index in range(2):
        one = graph.get_operation_by_name(f"clone_{index}/one")
        assert one.device == f"/job:worker/device:GPU:{index}"
