import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from sessions import initialized_session
from slow_cases import slow_but
from tf_frame.deploy.deployment_config import DeploymentConfig
from tf_frame.deploy.placement import variables_placed
from tf_frame.errors import ConfigError
from tf_frame.gradient_transforms.accumulate import Accumulate
from tf_frame.graph.update.apply_gradients import all_ready, apply_gradients
from tf_frame.graph.update.gradients import transform_gradients
from tf_frame.testing.ports import free_ports

pytestmark = pytest.mark.usefixtures("graph")

OPTIMIZERS = {
    "sgd": lambda: tf.train.GradientDescentOptimizer(0.1),
    "momentum": lambda: tf.train.MomentumOptimizer(0.1, 0.9),
    "nesterov": lambda: tf.train.MomentumOptimizer(0.1, 0.9, use_nesterov=True),
    "adam": lambda: tf.train.AdamOptimizer(0.1),
    "rmsprop": lambda: tf.train.RMSPropOptimizer(0.1, momentum=0.9, centered=True),
    "adagrad": lambda: tf.train.AdagradOptimizer(0.1),
    "adadelta": lambda: tf.train.AdadeltaOptimizer(0.1),
    "ftrl": lambda: tf.train.FtrlOptimizer(0.1, l1_regularization_strength=0.01),
}
# Eight batches of three rows; of each four, every one of the six rows is in two.
BATCHES = np.array([[0, 1, 2], [3, 4, 5], [1, 3, 5], [0, 2, 4]] * 2)
K = 4


class Gate:
    """A transform that changes nothing and is ready when it is told so."""

    def __init__(self):
        self.open = tf.placeholder(tf.bool, [])

    def __call__(self, pairs):
        return pairs

    def ready(self):
        return self.open


class Graph:
    """A dense layer on the rows of an embedding, and its update.

    The gradient of `embedding` is sparse, that of `weights` dense.
    """

    def __init__(self, make_optimizer, transforms=()):
        self.rows = tf.placeholder(tf.int32, [None])
        embedding = tf.get_variable("embedding", [6, 3], initializer=tf.ones_initializer())
        weights = tf.get_variable("weights", [3, 1], initializer=tf.ones_initializer())
        unused = tf.get_variable("unused", [2], initializer=tf.ones_initializer())
        outputs = tf.matmul(tf.gather(embedding, self.rows), weights)
        loss = tf.reduce_mean(tf.square(outputs - tf.cast(self.rows[:, None], tf.float32)))
        global_step = tf.train.create_global_step()
        optimizer = make_optimizer()
        pairs = optimizer.compute_gradients(loss, [embedding, weights, unused])
        assert [type(gradient) for gradient, _ in pairs][::2] == [tf.IndexedSlices, type(None)]
        kept = transform_gradients(pairs, transforms)
        self.update = apply_gradients(
            optimizer, kept, ready=all_ready(transforms), global_step=global_step
        )

    def train(self, session, batches, **feed):
        for rows in batches:
            session.run(self.update, {self.rows: rows, **feed})


def values(session):
    """All variables but those that accumulate, by name."""
    variables = {variable.op.name: variable for variable in tf.global_variables()}
    kept = {name: v for name, v in variables.items() if not name.startswith("accumulate/")}
    return session.run(kept)


def after(make_optimizer, batches, transforms=()):
    """The variables after training in a graph of its own."""
    with tf.Graph().as_default():
        graph = Graph(make_optimizer, [make() for make in transforms])
        with initialized_session() as session:
            graph.train(session, batches)
            return values(session)


def accumulate():
    return Accumulate(params=Accumulate.Params(steps=K))


def assert_same(left, right):
    assert left.keys() == right.keys()
    for name, value in left.items():
        np.testing.assert_allclose(value, right[name], rtol=0, atol=1e-6, err_msg=name)


@pytest.mark.usefixtures("variable_mode")
def test_runs_without_conditions_update():
    trained = after(OPTIMIZERS["sgd"], BATCHES)
    assert trained["global_step"] == len(BATCHES)
    assert (trained["weights"] != 1.0).all()
    np.testing.assert_array_equal(trained["unused"], [1.0, 1.0])
    always_ready = [lambda: list, lambda: Accumulate(params=Accumulate.Params(steps=1))]
    assert_same(after(OPTIMIZERS["sgd"], BATCHES, always_ready), trained)


@pytest.mark.usefixtures("variable_mode")
@pytest.mark.parametrize("name", slow_but((1, 3), ["sgd", "momentum", "nesterov", "adam"]))
def test_batches_that_are_accumulated_make_the_steps_of_large_batches(name):
    in_parts = after(OPTIMIZERS[name], BATCHES, [accumulate])
    at_once = after(OPTIMIZERS[name], BATCHES.reshape([2, -1]))
    assert in_parts["global_step"] == 2
    assert np.abs(in_parts["embedding"] - 1.0).max() > 0.01
    assert_same(in_parts, at_once)


@pytest.mark.usefixtures("variable_mode")
@pytest.mark.parametrize("saved_after", slow_but(0, [3, 4]))
def test_an_accumulation_goes_on_from_a_checkpoint(saved_after, tmp_path):
    path = str(tmp_path / "model.ckpt")
    with tf.Graph().as_default():
        graph = Graph(OPTIMIZERS["momentum"], [accumulate()])
        with initialized_session() as session:
            graph.train(session, BATCHES[:saved_after])
            tf.train.Saver().save(session, path)
    with tf.Graph().as_default(), tf.Session() as session:
        graph = Graph(OPTIMIZERS["momentum"], [accumulate()])
        tf.train.Saver().restore(session, path)
        graph.train(session, BATCHES[saved_after:])
        went_on = values(session)
    assert_same(went_on, after(OPTIMIZERS["momentum"], BATCHES.reshape([2, -1])))


@pytest.mark.usefixtures("variable_mode")
@pytest.mark.parametrize("name", slow_but((1, 3), OPTIMIZERS))
def test_runs_that_are_not_ready_change_nothing_and_others_change_all(name):
    gate = Gate()
    graph = Graph(OPTIMIZERS[name], [gate])
    plain = after(OPTIMIZERS[name], BATCHES[:2])
    with initialized_session() as session:
        before = values(session)
        graph.train(session, BATCHES[2:4], **{gate.open.name: False})
        for variable, value in values(session).items():
            np.testing.assert_array_equal(value, before[variable], err_msg=variable)
        graph.train(session, BATCHES[:1], **{gate.open.name: True})
        graph.train(session, BATCHES[2:4], **{gate.open.name: False})
        graph.train(session, BATCHES[1:2], **{gate.open.name: True})
        trained = values(session)
    assert trained["global_step"] == 2
    assert_same(trained, plain)


@pytest.mark.usefixtures("variable_mode")
def test_the_update_waits_for_every_transform():
    gates = [Gate(), Gate()]
    graph = Graph(OPTIMIZERS["sgd"], [gates[0], lambda pairs: pairs, gates[1]])
    with initialized_session() as session:
        for first, second, steps in [(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 1)]:
            graph.train(
                session, BATCHES[:1], **{gates[0].open.name: first, gates[1].open.name: second}
            )
            assert session.run(tf.train.get_global_step()) == steps


@pytest.mark.usefixtures("variable_mode")
def test_an_optimizer_that_makes_variables_while_it_applies_gets_them_outside_the_branch():
    class Counting(tf.train.GradientDescentOptimizer):
        def apply_gradients(self, grads_and_vars, global_step=None, name=None):
            count = tf.get_variable("count", [], initializer=tf.constant_initializer(5.0))
            applied = super().apply_gradients(grads_and_vars, global_step, name)
            return tf.group(applied, tf.assign_add(count, 1.0))

    trained = after(lambda: Counting(0.1), BATCHES, [accumulate])
    assert trained["count"] == 7.0
    assert trained["global_step"] == 2


@pytest.mark.usefixtures("variable_mode")
def test_names_and_devices_of_slots_stay():
    names = []
    for transforms in ([], [Gate]):
        with tf.Graph().as_default(), tf.name_scope("outer"):
            Graph(OPTIMIZERS["adam"], [make() for make in transforms])
            names.append([variable.op.name for variable in tf.global_variables()])
    assert names[0] == names[1]
    assert "outer/beta1_power" in names[0]
    with variables_placed(DeploymentConfig(num_ps_tasks=2)), tf.device("/job:worker/device:CPU:0"):
        Graph(OPTIMIZERS["adam"], [accumulate()])
    devices = {variable.op.name: variable.device for variable in tf.global_variables()}
    assert devices["embedding"] != devices["weights"]
    for name in ("embedding", "weights"):
        assert devices[name].startswith("/job:ps/")
        for slot in (f"{name}/Adam", f"{name}/Adam_1", f"accumulate/{name}"):
            assert devices[slot] == devices[name]


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.usefixtures("variable_mode")
@pytest.mark.parametrize("name", [pytest.param("momentum", marks=pytest.mark.slow), "adam"])
def test_parameter_servers_accumulate_as_one_machine_does(name):
    with variables_placed(DeploymentConfig(num_ps_tasks=2)), tf.device("/job:worker/device:CPU:0"):
        graph = Graph(OPTIMIZERS[name], [accumulate()])
    with tf.Session(start_servers()) as session:
        session.run(tf.global_variables_initializer())
        graph.train(session, BATCHES)
        trained = values(session)
    assert_same(trained, after(OPTIMIZERS[name], BATCHES.reshape([2, -1])))


def start_servers():
    """Two parameter servers and a worker, all in this process; the worker's address."""
    ports = free_ports(3)
    addresses = [f"127.0.0.1:{port}" for port in ports]
    cluster = tf.train.ClusterSpec({"ps": addresses[:2], "worker": addresses[2:]})
    servers = [
        tf.train.Server(cluster, job_name=job, task_index=task)
        for job, task in (("ps", 0), ("ps", 1), ("worker", 0))
    ]
    return servers[-1].target


@pytest.mark.parametrize("of_functions", [True, False])
def test_how_branches_are_built_elsewhere_stays(of_functions):
    before = tf.control_flow_v2_enabled()
    choose = {True: tf.enable_control_flow_v2, False: tf.disable_control_flow_v2}
    choose[of_functions]()
    try:
        Graph(OPTIMIZERS["sgd"], [Gate()])
        assert tf.control_flow_v2_enabled() is of_functions
    finally:
        choose[before]()


def test_updates_that_wait_do_not_go_with_an_optimizer_that_waits_for_others():
    def synchronous():
        optimizer = tf.train.GradientDescentOptimizer(0.1)
        return tf.train.SyncReplicasOptimizer(optimizer, 2, total_num_replicas=2)

    with pytest.raises(
        ConfigError, match="--sync_replicas cannot wait for updates that are held back"
    ):
        Graph(synchronous, [accumulate()])
    with tf.Graph().as_default():
        assert Graph(synchronous).update.type == "NoOp"
