import types

import pytest
import tensorflow.compat.v1 as tf

from refusals import refusal
from tf_frame.estimator.train_and_eval import executor as executor_module
from tf_frame.estimator.train_and_eval.executor import (
    Executor,
    platform_starts_servers,
    start_server,
    train_and_evaluate,
)
from tf_frame.estimator.train_and_eval.specs import EvalSpec, TrainSpec
from tf_frame.testing.ports import free_ports

from ..conftest import FakeEstimator

HOOK, LISTENER = tf.train.SessionRunHook(), tf.train.CheckpointSaverListener()


def config(task_type=None, task_id=None, jobs=(), **values):
    hosts = {job: [f"127.0.0.1:{2222 + n}"] for n, job in enumerate(jobs)}
    return types.SimpleNamespace(
        task_type=task_type,
        task_id=task_id,
        cluster_spec=tf.train.ClusterSpec(hosts),
        master="grpc://127.0.0.1:2222",
        experimental_max_worker_delay_secs=None,
        save_checkpoints_steps=2,
        save_checkpoints_secs=None,
        **values,
    )


class Clock:
    def __init__(self, events):
        self.now = 0.0
        self.events = events

    def sleep(self, secs):
        self.events.append(f"sleep {secs:g}")
        self.now += secs


def input_fn():
    return None


TRAIN, EVAL = TrainSpec(input_fn, 4), EvalSpec(input_fn)


def make(estimator, train=TRAIN, evaluate=EVAL):
    clock = Clock(estimator.events)
    return Executor(estimator, train, evaluate, clock=lambda: clock.now, sleep=clock.sleep)


@pytest.fixture
def servers(monkeypatch):
    """Notes the servers that are started, and how they end."""
    started = []

    def start(config):
        started.append(config.task_type)

    monkeypatch.setattr(executor_module, "start_server", start)
    monkeypatch.setattr(executor_module, "serve", lambda server: started.append("serve"))
    monkeypatch.setattr(
        executor_module, "end_job", lambda config: started.append(f"{config.task_type} ends it")
    )
    return started


def test_arguments_of_another_kind_and_a_second_evaluator_are_refused():
    estimator = FakeEstimator(config())
    for name, kind, arguments in [
        ("estimator", "Estimator", ("e", TRAIN, EVAL)),
        ("train_spec", "TrainSpec", (estimator, "t", EVAL)),
        ("eval_spec", "EvalSpec", (estimator, TRAIN, "v")),
    ]:
        message = f"`{name}` must have type `tf.estimator.{kind}`. Got: <class 'str'>"
        assert refusal(train_and_evaluate, *arguments) == (TypeError, message)
    assert refusal(train_and_evaluate, FakeEstimator(config("evaluator", 1)), TRAIN, EVAL) == (
        ValueError,
        "For distributed training, there can only be one `evaluator` task (with task id 0).  "
        "Given task id 1",
    )


@pytest.mark.parametrize(
    ("task_type", "message"),
    [
        (
            None,
            "`estimator.config` must have task_type set. This usually means TF_CONFIG environment "
            "is not set correctly.",
        ),
        (
            "local",
            "`task.type` in TF_CONFIG cannot be `local`. Leaving `cluster` and `task` properties "
            "in TF_CONFIG absent triggers train and evaluate `Estimator` locally "
            "(non-distributed).",
        ),
        (
            "driver",
            "Task type driver is not supported. Supported task types are ['chief', 'evaluator', "
            "'master', 'ps', 'worker']",
        ),
    ],
)
def test_a_task_that_does_not_exist_is_refused(task_type, message):
    executor = make(FakeEstimator(config(task_type, 0, ["chief"])))
    assert refusal(executor.run) == (ValueError, message)


@pytest.mark.parametrize("task", ["chief", "worker", "master", "ps", "evaluator", "local"])
def test_each_task_does_its_part(monkeypatch, task):
    called = []
    for name in ["chief", "worker", "master", "ps", "evaluator", "local"]:
        monkeypatch.setattr(Executor, f"run_{name}", lambda self, n=name: called.append(n) or n)
    alone = task in ("local", "evaluator")
    own = config(None if task == "local" else task, 0, [] if alone else [task])
    # Only a process alone has something to return.
    assert make(FakeEstimator(own)).run() == ("local" if task == "local" else None)
    assert called == [task]


def test_the_chief_starts_a_server_and_trains_with_its_listeners(servers):
    estimator = FakeEstimator(config("chief", 0, ["chief", "ps"]))
    train = TrainSpec(input_fn, 4, hooks=[HOOK], saving_listeners=[LISTENER])
    make(estimator, train).run()
    assert servers == ["chief", "chief ends it"]
    arguments = {
        "input_fn": input_fn,
        "max_steps": 4,
        "hooks": (HOOK,),
        "saving_listeners": (LISTENER,),
    }
    assert estimator.events == [("train", arguments)]


@pytest.mark.parametrize(
    ("task_id", "most", "delay"),
    [
        *((0, None, 5), (2, None, 15), (10, None, 55), (11, None, 60), (40, None, 60)),
        *((2, 7, 7), (3, 0, 0)),
    ],
)
def test_a_worker_starts_its_server_waits_and_trains(servers, task_id, most, delay):
    own = config("worker", task_id, ["chief", "worker"])
    own.experimental_max_worker_delay_secs = most
    estimator = FakeEstimator(own)
    train = TrainSpec(input_fn, 4, hooks=[HOOK], saving_listeners=[LISTENER])
    make(estimator, train).run()
    assert servers == ["worker"]
    *waits, (_, arguments) = estimator.events
    assert waits == ([f"sleep {delay}"] if delay else [])
    # Only the chief saves.
    assert arguments["saving_listeners"] == ()


def test_the_servers_may_be_there_already(servers, monkeypatch):
    monkeypatch.setenv("TF_CONFIG", '{"environment": "google"}')
    make(FakeEstimator(config("chief", 0, ["chief", "ps"]))).run()
    assert servers == ["chief ends it"]


def test_a_master_evaluates_as_well(servers, tmp_path):
    estimator = FakeEstimator(config("master", 0, ["master", "ps"]), tmp_path, [None, "c-2"])
    make(estimator, TrainSpec(input_fn, 4, saving_listeners=[LISTENER])).run()
    own, evaluating = estimator.events[0][1]["saving_listeners"]
    assert own is LISTENER
    assert servers == ["master", "master ends it"]
    evaluating.begin()
    assert evaluating.after_save(None, 2) is None
    assert estimator.events[-1] == "evaluate c-2"


def test_a_parameter_server_holds_its_variables_until_it_is_ended(servers):
    estimator = FakeEstimator(config("ps", 0, ["chief", "ps"]))
    make(estimator).run()
    assert servers == ["ps", "serve"]
    assert estimator.events == []


def test_the_evaluator_evaluates_until_the_last_step(tmp_path):
    estimator = FakeEstimator(config("evaluator", 0), tmp_path, [None, "c-2", "c-4"])
    make(estimator, evaluate=EvalSpec(input_fn, start_delay_secs=7, throttle_secs=30)).run()
    assert estimator.events == ["sleep 7", "sleep 1", "evaluate c-2", "sleep 30", "evaluate c-4"]


def server_config(jobs, **values):
    spec = tf.train.ClusterSpec(jobs)
    return types.SimpleNamespace(
        **{
            "cluster_spec": spec,
            "task_type": "worker",
            "task_id": 0,
            "master": "grpc://127.0.0.1:1",
            "session_config": None,
            "protocol": None,
            **values,
        }
    )


TWO = {"chief": ["127.0.0.1:1"], "worker": ["127.0.0.1:2"]}


def test_a_server_is_started_for_the_task():
    (port,) = free_ports(1)
    # In a cluster of several tasks, a session would wait for all of them.
    server = start_server(server_config({"worker": [f"127.0.0.1:{port}"]}))
    assert server.target == f"grpc://127.0.0.1:{port}"
    with tf.Graph().as_default():
        total = tf.constant(2) + 3
        with tf.Session(server.target) as session:
            assert session.run(total) == 5


def test_a_server_is_told_of_gpus_and_the_protocol(monkeypatch):
    told = []
    monkeypatch.setattr(executor_module, "confined_server", lambda *told_now: told.append(told_now))
    session_config = tf.ConfigProto(
        log_device_placement=True, gpu_options=tf.GPUOptions(allow_growth=True)
    )
    own = server_config(
        TWO, task_type="chief", session_config=session_config, protocol="grpc+verbs"
    )
    start_server(own)
    ((spec, job, task, proto, protocol),) = told
    assert spec.as_dict() == TWO
    assert proto.gpu_options.allow_growth
    assert not proto.log_device_placement
    assert (job, task, protocol) == ("chief", 0, "grpc+verbs")


@pytest.mark.parametrize("task", ["chief", "master", "worker"])
def test_a_task_that_trains_alone_needs_no_server(task):
    assert start_server(server_config({task: ["127.0.0.1:1"]}, task_type=task, master="")) is None


@pytest.mark.parametrize(
    ("jobs", "values", "missing"),
    [
        ({}, {}, "cluster_spec, task_type, and task"),
        (TWO, {"task_type": ""}, "cluster_spec, task_type, and task"),
        (TWO, {"task_id": None}, "cluster_spec, task_type, and task"),
        (TWO, {"master": ""}, "master"),
        ({"ps": ["127.0.0.1:1"]}, {"task_type": "ps", "master": ""}, "master"),
    ],
)
def test_a_server_needs_to_know_its_task_and_its_master(jobs, values, missing):
    message = (
        f"Could not start server; be sure to specify {missing} in RunConfig or set the TF_CONFIG "
        "environment variable."
    )
    assert refusal(start_server, server_config(jobs, **values)) == (RuntimeError, message)


@pytest.mark.parametrize(
    ("tf_config", "answer"),
    [('{"environment": "google"}', True), ('{"environment": "cloud"}', False), (None, False)],
)
def test_a_platform_may_have_started_the_servers(monkeypatch, caplog, tf_config, answer):
    monkeypatch.delenv("TF_CONFIG", raising=False)
    if tf_config:
        monkeypatch.setenv("TF_CONFIG", tf_config)
    assert platform_starts_servers() is answer
    warning = "TF_CONFIG should not be empty in distributed environment."
    assert caplog.messages == ([] if tf_config else [warning])
