import copy
import json

import pytest
import tensorflow.compat.v1 as tf

from tf_frame.cluster.tf_config import ClusterConfig, TaskType, cluster_config, read_tf_config
from tf_frame.config.option import resolve
from tf_frame.config.run_options import RunOptions

PS = ["p0:2222", "p1:2222"]
WORKERS = ["w0:2222", "w1:2222", "w2:2222"]
CHIEF = {"chief": ["c:2222"], "ps": PS, "worker": WORKERS}
MASTER = {"master": ["m:2222"], "ps": PS, "worker": WORKERS}
NOTE = "\n\nNote that these values may be coming from the TF_CONFIG environment variable."


def of(cluster, task_type=None, index=None, **more):
    task = {"type": task_type, "index": index}
    task = {name: value for name, value in task.items() if value is not None}
    return cluster_config({"cluster": cluster, "task": task, **more})


def run_options(*values):
    return dict(zip(("master", "task", "worker_replicas", "num_ps_tasks"), values, strict=True))


def refusal(kind, tf_config):
    with pytest.raises(kind) as caught:
        cluster_config(tf_config)
    return str(caught.value)


def test_without_tf_config_a_process_is_alone():
    alone = cluster_config(read_tf_config({}))
    assert alone == ClusterConfig("worker", 0, {}, "", "", True, 0, 1, 0, None, None)
    assert alone == ClusterConfig()


@pytest.mark.parametrize("leader", ["chief", "master"])
@pytest.mark.parametrize(
    ("task_type", "task_id", "address", "global_id", "task"),
    [
        ("leader", 0, "leader", 0, 0),
        ("worker", 0, "w0:2222", 1, 1),
        ("worker", 1, "w1:2222", 2, 2),
        ("worker", 2, "w2:2222", 3, 3),
        ("ps", 0, "p0:2222", 4, None),
        ("ps", 1, "p1:2222", 5, None),
    ],
)
def test_every_task_of_a_cluster_finds_its_place(
    leader, task_type, task_id, address, global_id, task
):
    cluster, host = (CHIEF, "c:2222") if leader == "chief" else (MASTER, "m:2222")
    place = of(cluster, leader if task_type == "leader" else task_type, task_id)
    assert place.task_type == (leader if task_type == "leader" else task_type)
    assert place.task_id == task_id
    assert place.master == f"grpc://{host if address == 'leader' else address}"
    assert place.evaluation_master == ""
    assert place.is_chief == (task_type == "leader")
    assert (place.num_ps, place.num_workers) == (2, 4)
    assert place.global_id == global_id
    assert place.cluster["worker"] == {0: "w0:2222", 1: "w1:2222", 2: "w2:2222"}
    assert place.trains == (task_type != "ps")
    if task is None:
        assert place.run_options() == {}
    else:
        assert place.run_options() == run_options(place.master, task, 4, 2)
        config = resolve(RunOptions, [place.run_options()])
        assert (config.task, config.worker_replicas, config.num_ps_tasks) == (task, 4, 2)


def test_an_evaluator_stands_beside_the_cluster():
    place = of(CHIEF, "evaluator", 7)  # There may be any number of them.
    assert place == ClusterConfig(
        task_type="evaluator", task_id=7, is_chief=False, num_workers=0, global_id=None
    )
    assert place.cluster == {} and place.run_options() == {} and not place.trains


def test_session_targets_may_be_given():
    targets = {"session_master": "grpc://s:1", "eval_session_master": "grpc://e:1"}
    chief = of(CHIEF, "chief", 0, **targets)
    assert (chief.master, chief.evaluation_master) == ("grpc://s:1", "")
    evaluator = of(CHIEF, "evaluator", 0, **targets)
    assert (evaluator.master, evaluator.evaluation_master) == ("", "grpc://e:1")
    alone = cluster_config(targets)
    assert (alone.master, alone.evaluation_master) == ("grpc://s:1", "grpc://e:1")
    assert alone.run_options() == run_options("grpc://s:1", 0, 1, 0)
    assert of(CHIEF, "chief", 0, session_master=None).master == ""


@pytest.mark.parametrize("leader", ["chief", "master"])
def test_a_cluster_of_one_task_trains_inside_its_process(leader):
    place = of({leader: ["a:1"]}, leader, 0)
    assert (place.master, place.is_chief, place.global_id) == ("", True, 0)
    assert (place.num_ps, place.num_workers) == (0, 1)
    assert place.run_options() == run_options("", 0, 1, 0)
    assert resolve(RunOptions, [place.run_options()]) == RunOptions()


def test_two_tasks_of_which_none_is_a_server_are_no_cluster_of_one():
    place = of({"chief": ["a:1"], "worker": ["b:1"]}, "worker", 0)
    assert (place.master, place.num_ps, place.num_workers) == ("grpc://b:1", 0, 2)
    # They all-reduce their gradients.
    assert place.run_options()["num_ps_tasks"] == 0


def test_worker_0_may_lead_where_there_is_no_chief():
    config = {"cluster": {"worker": WORKERS, "ps": PS}, "task": {"type": "worker", "index": 0}}
    with pytest.raises(ValueError, match='it must have one "chief" node'):
        cluster_config(config)
    place = cluster_config(config, worker_leads=True)
    assert (place.is_chief, place.num_workers, place.global_id) == (True, 3, 0)
    config["task"]["index"] = 2
    place = cluster_config(config, worker_leads=True)
    assert (place.is_chief, place.run_options()["task"]) == (False, 2)
    led = {"cluster": CHIEF, "task": {"type": "worker", "index": 0}}
    assert cluster_config(led, worker_leads=True) == cluster_config(led)


def test_workers_that_come_and_go_are_refused():
    with pytest.raises(ValueError, match="leave enableDynamicWorker out"):
        cluster_config({"sparseCluster": {"worker": {"0": "w:1"}}})


def test_other_jobs_are_numbered_by_name_between_chief_and_servers():
    cluster = {"worker": ["w0:1", "w1:1"], "ps": ["p:1"], "chief": ["c:1"], "evaluator": ["e:1"]}
    cluster["reader"] = ["r0:1", "r1:1"]
    # chief 0, evaluator 1, reader 2 and 3, worker 4 and 5, ps 6
    ids = [
        of(cluster, *task).global_id
        for task in [("chief", 0), ("reader", 1), ("worker", 1), ("ps", 0)]
    ]
    assert ids == [0, 3, 5, 6]
    assert of(cluster, "worker", 1).run_options()["task"] == 2
    reader = of(cluster, "reader", 1)
    assert not reader.trains and reader.run_options() == {}
    assert (reader.master, reader.num_workers) == ("grpc://r1:1", 3)


def test_ids_of_a_job_may_have_gaps():
    cluster = {"chief": {"0": "c:1"}, "worker": {"1": "a:1", "3": "b:1"}, "ps": ["p:1"]}
    worker = of(cluster, "worker", 3)
    assert (worker.master, worker.global_id, worker.num_workers) == ("grpc://b:1", 4, 3)
    assert of(cluster, "ps", 0).global_id == 5
    with pytest.raises(ValueError, match="2 is not a valid task_id for task_type worker"):
        of(cluster, "worker", 2)
    with pytest.raises(ValueError, match='must have only one "chief" node.'):
        of({"chief": {"1": "c:1"}}, "chief", 1)


def test_an_index_may_be_a_text():
    assert of(CHIEF, "worker", "2").task_id == 2
    assert cluster_config({"task": {"type": "worker", "index": "0"}}) == ClusterConfig()


def test_service_and_folder_are_handed_on():
    for place in (
        of(CHIEF, "ps", 1, service={"tpu": 1}, model_dir="/m"),
        of(CHIEF, "evaluator", 0, service={"tpu": 1}, model_dir="/m"),
        cluster_config({"service": {"tpu": 1}, "model_dir": "/m"}),
    ):
        assert (place.service, place.model_dir) == ({"tpu": 1}, "/m")


NOT_SET, SET = (f'If "cluster" is {state} in TF_CONFIG, ' for state in ("not set", "set"))


@pytest.mark.parametrize(
    ("cluster", "task", "message"),
    [
        (None, {"type": "ps"}, f"{NOT_SET}task type must be WORKER."),
        (None, {"index": 1}, f"{NOT_SET}task index must be 0."),
        ({"worker": ["w:1"]}, ("worker", 0), f'{SET}it must have one "chief" node.'),
        ({"chief": [], "worker": ["w:1"]}, ("worker", 0), f'{SET}it must have one "chief" node.'),
        *(
            (
                {leader: ["a:1", "b:1"]},
                (leader, 0),
                f'The "cluster" in TF_CONFIG must have only one "{leader}" node.',
            )
            for leader in ("chief", "master")
        ),
        (
            {"chief": ["a:1"], "master": ["b:1"]},
            {},
            "If `master` node exists in `cluster`, job `chief` is not supported.",
        ),
        (
            MASTER,
            ("evaluator", 0),
            "If `master` node exists in `cluster`, task_type `evaluator` is not supported.",
        ),
        (CHIEF, {}, f"{SET}task type must be set."),
        (CHIEF, ("", 0), f"{SET}task type must be set."),
        (CHIEF, {"type": "chief"}, f"{SET}task index must be set."),
        (CHIEF, ("worker", float("inf")), "Task index must be a number; it is inf"),
        (CHIEF, ("worker", -1), "Task index must be non-negative number."),
        (CHIEF, ("evaluator", -1), "Task index must be non-negative number."),
    ],
)
def test_clusters_and_tasks_that_break_a_rule_are_refused(cluster, task, message):
    task = dict(zip(("type", "index"), task, strict=True)) if isinstance(task, tuple) else task
    tf_config = {"task": task} if cluster is None else {"cluster": cluster, "task": task}
    assert refusal(ValueError, tf_config) == message


@pytest.mark.parametrize("cluster", [CHIEF, {**CHIEF, "ps": []}, {**CHIEF, "ps": {"1": "p:1"}}])
def test_a_task_outside_its_cluster_is_shown_the_cluster(cluster):
    where = f"in the cluster_spec:\n{tf.train.ClusterSpec(cluster)}{NOTE}"
    for kind, index, fault in (
        ("master", 0, "master is not a valid task_type"),
        ("worker", 3, "3 is not a valid task_id for task_type worker"),
    ):
        task = {"type": kind, "index": index}
        assert refusal(ValueError, {"cluster": cluster, "task": task}) == f"{fault} {where}"


@pytest.mark.parametrize(
    ("tf_config", "message"),
    [
        (
            {"service": "x"},
            "If \"service\" is set in TF_CONFIG, it must be a dict. Given <class 'str'>",
        ),
        ({"cluster": ["a:1"]}, "`cluster` must be a dictionary mapping one or more job names"),
        ({"cluster": {"chief": "a:1"}}, "The tasks for job 'chief' must be a list or a dictionary"),
        ({"cluster": {"chief": [1]}}, "Task address 1 must be bytes or unicode"),
        ({"task": ["worker", 0]}, '"task" in TF_CONFIG must be a JSON object'),
    ],
)
def test_parts_of_another_form_are_type_errors(tf_config, message):
    assert refusal(TypeError, tf_config).startswith(message)


def test_the_environment_variable_is_read_as_json():
    content = {"cluster": CHIEF, "task": {"type": "worker", "index": 1}}
    assert read_tf_config({"TF_CONFIG": json.dumps(content)}) == content
    assert read_tf_config({"OTHER": "x"}) == {}
    for text in ("{not json", "", "[" * 100_000, "1" * 5000):
        with pytest.raises(ValueError, match="^TF_CONFIG is not JSON: "):
            read_tf_config({"TF_CONFIG": text})
    for text in ("[]", "null", "3"):
        with pytest.raises(TypeError, match="TF_CONFIG must be a JSON object"):
            read_tf_config({"TF_CONFIG": text})


def test_a_cluster_config_is_a_value():
    one, two = of(CHIEF, "worker", 1), of(CHIEF, "worker", 1)
    assert one == two == copy.deepcopy(one) and hash(one) == hash(two)
    assert one != of(CHIEF, "worker", 2)
    with pytest.raises(AttributeError):
        one.master = "other"


def test_task_types_have_the_names_of_tf_estimator():
    names = {name for name in vars(TaskType) if name.isupper()}
    assert names == {"MASTER", "PS", "WORKER", "CHIEF", "EVALUATOR"}
    assert all(getattr(TaskType, name) == name.lower() for name in names)
