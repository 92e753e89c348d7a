import pytest
import tensorflow.compat.v1 as tf

from refusals import refusal
from tf_frame.config.option import resolve
from tf_frame.config.run_options import RunOptions
from tf_frame.estimator.run_config.run_config import RunConfig, default_session_config

from .conftest import CLUSTER


@pytest.mark.parametrize(
    ("task_type", "index", "master", "global_id", "task", "filters"),
    [
        ("chief", 0, "grpc://c:1", 0, 0, ["/job:ps", "/job:chief"]),
        ("worker", 0, "grpc://w0:1", 1, 1, ["/job:ps", "/job:worker/task:0"]),
        ("worker", 1, "grpc://w1:1", 2, 2, ["/job:ps", "/job:worker/task:1"]),
        ("ps", 1, "grpc://p1:1", 4, None, ["/job:ps", "/job:worker", "/job:chief", "/job:master"]),
    ],
)
def test_a_task_of_a_cluster(in_cluster, task_type, index, master, global_id, task, filters):
    in_cluster(task_type, index)
    config = RunConfig()
    assert (config.task_type, config.task_id) == (task_type, index)
    assert (config.master, config.evaluation_master) == (master, "")
    assert config.is_chief == (task_type == "chief")
    assert (config.num_ps_replicas, config.num_worker_replicas) == (2, 3)
    assert config.global_id_in_cluster == global_id
    assert config.cluster_spec == tf.train.ClusterSpec(CLUSTER)
    assert config.cluster.master == master
    proto = default_session_config()
    proto.device_filters.extend(filters)
    assert config.session_config == proto
    told = config.run_options()
    assert [told.get(name) for name in ("master", "task", "worker_replicas", "num_ps_tasks")] == (
        [None] * 4 if task is None else [master, task, 3, 2]
    )


def test_a_cluster_with_a_master_without_a_parameter_server_or_with_one_task(in_cluster):
    in_cluster("master", 0, cluster={"master": ["m:1"], "ps": ["p:1"]})
    config = RunConfig()
    assert (config.task_type, config.is_chief, config.master) == ("master", True, "grpc://m:1")
    assert list(config.session_config.device_filters) == ["/job:ps", "/job:master"]
    # All-reduce.
    in_cluster("worker", 1, cluster={"chief": ["c:1"], "worker": ["w0:1", "w1:1"]})
    config = RunConfig()
    assert config.num_worker_replicas == config.run_options()["worker_replicas"] == 3
    assert config.run_options()["num_ps_tasks"] == 0
    in_cluster("chief", 0, cluster={"chief": ["a:1"]})
    config = RunConfig()
    assert (config.master, config.num_worker_replicas, config.is_chief) == ("", 1, True)
    assert list(config.session_config.device_filters) == ["/job:ps", "/job:chief"]


def test_an_evaluator(in_cluster):
    in_cluster("evaluator", 0, eval_session_master="grpc://e:1")
    config = RunConfig()
    assert (config.task_type, config.master) == ("evaluator", "")
    assert config.evaluation_master == "grpc://e:1"
    assert (config.num_ps_replicas, config.num_worker_replicas) == (0, 0)
    assert config.is_chief is False and config.global_id_in_cluster is None
    assert config.cluster_spec == tf.train.ClusterSpec({})
    assert config.session_config == default_session_config()


def test_the_session_configuration_has_devices_of_options_and_no_filters_if_given(in_cluster):
    in_cluster("worker", 1)
    own = tf.ConfigProto(log_device_placement=True)
    assert RunConfig(session_config=own).session_config == own
    proto = RunConfig(options={"gpus": "1"}).session_config
    assert proto.gpu_options.visible_device_list == "1"
    assert proto.device_filters


def test_service_and_session_targets_without_a_cluster(in_cluster):
    in_cluster(service={"a": 1}, session_master="grpc://s:1", eval_session_master="grpc://e:1")
    config = RunConfig()
    assert config.service == {"a": 1}
    assert (config.master, config.evaluation_master) == ("grpc://s:1", "grpc://e:1")
    assert config.run_options()["master"] == "grpc://s:1"


def test_errors_of_tf_config_come_through(in_cluster, monkeypatch):
    in_cluster("worker", 2)
    with pytest.raises(ValueError, match="2 is not a valid task_id for task_type worker"):
        RunConfig()
    in_cluster(service="x")
    with pytest.raises(TypeError, match='If "service" is set in TF_CONFIG, it must be a dict'):
        RunConfig()
    monkeypatch.setenv("TF_CONFIG", "{")
    with pytest.raises(ValueError, match="TF_CONFIG is not JSON"):
        RunConfig()


def test_tf_config_may_name_the_folder(in_cluster, logged):
    in_cluster(model_dir="/from")
    assert RunConfig().model_dir == RunConfig("/from").model_dir == "/from"
    assert logged[:2] == [
        ("info", "TF_CONFIG environment variable: {'model_dir': '/from'}"),
        ("info", "Using model_dir in TF_CONFIG: /from"),
    ]
    assert refusal(RunConfig, "/other") == (
        ValueError,
        "`model_dir` provided in RunConfig construct, if set, must have the same value as the "
        'model_dir in TF_CONFIG. model_dir: /other\nTF_CONFIG["model_dir"]: /from.\n',
    )
    in_cluster(model_dir="")
    assert refusal(RunConfig) == (ValueError, "model_dir in TF_CONFIG should be non-empty.")


def test_options_may_describe_a_cluster_as_the_command_line_does():
    options = {"master": "grpc://w1:1", "task": 1, "worker_replicas": 3, "num_ps_tasks": 2}
    config = RunConfig(options=options)
    assert (config.master, config.task_id, config.is_chief) == ("grpc://w1:1", 1, False)
    assert (config.num_worker_replicas, config.num_ps_replicas) == (3, 2)
    assert config.global_id_in_cluster == 1
    told = config.run_options()
    assert {name: told[name] for name in options} == options
    assert config.replace(options={**options, "task": 0}).is_chief
    assert RunConfig(options={"task": 0}).is_chief


def test_options_and_tf_config_must_describe_the_same_cluster(in_cluster):
    in_cluster("worker", 1)
    same = {"task": 2, "worker_replicas": 3, "num_ps_tasks": 2, "master": "grpc://w1:1"}
    config = RunConfig(options=same)
    assert config.task_id == 1 and config.run_options()["task"] == 2
    for name, other in [("task", 1), ("worker_replicas", 4), ("num_ps_tasks", 1), ("master", "")]:
        message = (
            f"TF_CONFIG means {name}={same[name]!r} and options={{{name!r}: {other!r}}} says "
            "another; leave out one of them"
        )
        assert refusal(RunConfig, options={name: other}) == (ValueError, message)


@pytest.mark.parametrize("task_type", ["ps", "evaluator"])
def test_a_task_that_does_not_train_passes_over_the_cluster_of_the_options(in_cluster, task_type):
    in_cluster(task_type, 0)
    config = RunConfig(options={"worker_replicas": 3, "num_ps_tasks": 2, "num_clones": 2})
    told = config.run_options()
    assert told["num_clones"] == 2 and config.task_type == task_type
    assert not {"master", "task", "worker_replicas", "num_ps_tasks"} & told.keys()
    resolve(RunOptions, [told])
