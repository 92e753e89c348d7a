"""The task of a process, from TF_CONFIG, flags or `--master`; an error is one clear line."""

import json

import pytest

from tf_frame.cli.main import main
from tf_frame.cluster.find import find_cluster, in_cluster
from tf_frame.config.run_options import RunOptions
from tf_frame.errors import ConfigError
from tf_frame.testing.distributions import write_toy_distribution

CHIEF = {"chief": ["c:1"], "worker": ["w:1", "v:1"], "ps": ["p:1", "q:1"]}
MASTER = {"master": ["c:1"], "worker": ["w:1"], "ps": ["p:1"]}
WORKERS = {"worker": ["w:1", "v:1"], "ps": ["p:1"]}
ALL_REDUCE = {"worker": ["w:1", "v:1"]}


def make_config(cluster, task_type, index, **more):
    return {"TF_CONFIG": json.dumps({"cluster": cluster, **more, "task": task(task_type, index)})}


def task(task_type, index):
    return {"type": task_type, "index": index}


@pytest.mark.parametrize(
    ("cluster", "job", "index", "worker", "workers", "num_ps", "name"),
    [
        (CHIEF, "chief", 0, 0, 3, 2, "chief-0"),
        (CHIEF, "worker", 1, 2, 3, 2, "worker-1"),
        (CHIEF, "ps", 1, 1, 3, 2, "ps-1"),
        (MASTER, "master", 0, 0, 2, 1, "chief-0"),
        (MASTER, "worker", 0, 1, 2, 1, "worker-0"),
        (WORKERS, "worker", 0, 0, 2, 1, "chief-0"),
        (WORKERS, "worker", 1, 1, 2, 1, "worker-1"),
        (ALL_REDUCE, "worker", 1, 1, 2, 0, "worker-1"),
    ],
)
def test_a_task_finds_its_place_in_tf_config(cluster, job, index, worker, workers, num_ps, name):
    found = find_cluster(RunOptions(), make_config(cluster, job, index))
    assert (found.task_id, found.num_workers, found.num_ps_tasks) == (worker, workers, num_ps)
    assert found.target == f"grpc://{cluster[job][index]}"
    assert found.task_name == name
    assert found.is_chief == (name == "chief-0")
    config = in_cluster(RunOptions(), found)
    assert (config.worker_replicas, config.num_ps_tasks) == (workers, num_ps)
    assert config.task == (0 if job == "ps" else worker)


@pytest.mark.parametrize(("job", "index"), [("worker", 0), ("worker", 1), ("ps", 0)])
def test_flags_name_the_same_tasks_as_tf_config(job, index):
    hosts = {"worker_hosts": ("w:1", "v:1"), "ps_hosts": ("p:1",)}
    by_flags = find_cluster(RunOptions(**hosts, job_name=job, task=index), {})
    assert by_flags == find_cluster(RunOptions(), make_config(WORKERS, job, index))


def test_an_evaluator_is_outside_of_the_cluster():
    with_evaluator = {**CHIEF, "evaluator": ["e:1"]}
    for cluster, job in ((CHIEF, "evaluator"), (with_evaluator, "evaluator")):
        found = find_cluster(RunOptions(), make_config(cluster, job, 0))
        assert (found.role, found.target, found.is_chief) == ("evaluator", "", False)
    assert (
        "evaluator" not in find_cluster(RunOptions(), make_config(with_evaluator, "chief", 0)).jobs
    )


def test_a_cluster_of_one_task_needs_no_server():
    for cluster, job in (({"chief": ["c:1"]}, "chief"), ({"worker": ["w:1"]}, "worker")):
        found = find_cluster(RunOptions(), make_config(cluster, job, 0))
        assert (found.target, found.is_chief, found.has_several_tasks) == ("", True, False)
        assert in_cluster(RunOptions(), found) == RunOptions()


def test_what_kubernetes_and_vertex_ai_write_is_read():
    kubernetes = make_config(CHIEF, "worker", 1, environment="cloud")
    vertex = {"environment": "cloud", "job": {"scale_tier": "CUSTOM"}}
    assert find_cluster(RunOptions(), kubernetes).task_name == "worker-1"
    assert find_cluster(RunOptions(), make_config(CHIEF, "chief", 0, **vertex)).is_chief
    text = {"TF_CONFIG": json.dumps({"cluster": CHIEF, "task": {"type": "worker", "index": "1"}})}
    assert find_cluster(RunOptions(), text).task_name == "worker-1"


@pytest.mark.parametrize("options", [{"num_ps_tasks": 1}, {"worker_replicas": 2}, {"task": 1}])
def test_the_options_of_a_cluster_need_addresses(options):
    with pytest.raises(ConfigError, match="--master grpc://HOST:PORT"):
        find_cluster(RunOptions(**options))
    whole = {"num_ps_tasks": 1, "worker_replicas": 2, **options}
    assert find_cluster(RunOptions(**whole, master="grpc://c:1")).target == "grpc://c:1"


def test_tf_config_counts_only_where_it_is_asked_for():
    environment = make_config(CHIEF, "worker", 1)
    assert not find_cluster(RunOptions(cluster_from="none"), environment).has_several_tasks
    assert not find_cluster(RunOptions()).has_several_tasks
    assert not find_cluster(RunOptions(), {"TF_CONFIG": ""}).has_several_tasks


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Runs the command in this process; returns exit code and messages."""
    write_toy_distribution(tmp_path / "site")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    monkeypatch.delenv("TF_CONFIG", raising=False)

    def run(*words, tf_config=None):
        if tf_config is not None:
            monkeypatch.setenv("TF_CONFIG", tf_config)
        folder = str(tmp_path / "run")
        code = main(["run", "--plugin", "toy", "--model_dir", folder, *words])
        said = capsys.readouterr()
        assert said.out == ""
        assert not (tmp_path / "run").exists()
        return code, said.err

    return run


def make_text(cluster, *place, **more):
    return make_config(cluster, *place, **more)["TF_CONFIG"]


C = {"chief": ["c:1"]}
HOSTS = "--worker_hosts w:1,v:1 --ps_hosts p:1"
ALL_FLAGS = "--worker_hosts, --ps_hosts, --job_name, --task"
NO_LEADER = 'If "cluster" is set in TF_CONFIG, it must have'
# Words, TF_CONFIG, and the beginning of the message.
REFUSALS = [
    ("", "{", "TF_CONFIG is not JSON: line 1, column 2: Expecting property name"),
    ("", "[1]", "TF_CONFIG must be a JSON object, {...}; it is [1]"),
    (
        "",
        '{"cluster": "a:1"}',
        "TF_CONFIG: `cluster` must be a dictionary mapping one or more job names to lists of "
        "network addresses; in TF_CONFIG it is 'a:1'",
    ),
    ("", '{"task": {"index": null}}', "TF_CONFIG: Task index must be a number; it is None"),
    (
        "",
        make_text(CHIEF, "chief", 0, session_master=5),
        "TF_CONFIG: session_master is '5'; expected grpc://HOST:PORT",
    ),
    *(
        ("", make_text(cluster, job, index), f"TF_CONFIG: {message}")
        for cluster, job, index, message in [
            (CHIEF, "worker", 2, "2 is not a valid task_id for task_type worker"),
            (CHIEF, "worker", "x", "Task index must be a number; it is 'x'"),
            ({"ps": ["p:1"]}, "ps", 0, f'{NO_LEADER} one "chief" node.'),
            ({**C, "worker": {"first": "w:1"}}, "chief", 0, "Task index must be a number; it is"),
            ({**C, "worker": ["w:99999"]}, "chief", 0, "the address 'w:99999' of the job 'worker'"),
            ({"chief": ["c"]}, "chief", 0, "the address 'c' of the job 'chief' is not HOST:PORT"),
            ({**C, "worker": ["c:1"]}, "chief", 0, "the address c:1 is given twice, for chief and"),
        ]
    ),
    (
        f"{HOSTS} --job_name worker",
        make_text(CHIEF, "chief", 0),
        "--worker_hosts and --ps_hosts describe a cluster, and so does the environment variable "
        "TF_CONFIG; leave one out",
    ),
    *(
        (words, None, message)
        for words, message in [
            (HOSTS, "--worker_hosts, --ps_hosts, --job_name and --task go together"),
            ("--ps_hosts p:1", "--worker_hosts, --ps_hosts, --job_name and --task go together"),
            (
                "--worker_hosts w:1 --ps_hosts p --job_name ps",
                f"{ALL_FLAGS}: the address 'p' of the job 'ps' is not",
            ),
            (
                "--worker_hosts grpc://w:1 --job_name worker",
                f"{ALL_FLAGS}: the address 'grpc://w:1' of the job",
            ),
            (f"{HOSTS} --job_name worker --task 2", f"{ALL_FLAGS}: 2 is not a valid task_id"),
            ("--worker_hosts w:1 --job_name ps", f"{ALL_FLAGS}: ps is not a valid task_type"),
            (f"{HOSTS} --job_name boss", "--job_name: "),
            (f"{HOSTS} --job_name worker --task -1", "--task: "),
            (
                "--worker_replicas 2",
                "--num_ps_tasks, --worker_replicas and --task describe a cluster; give the addres",
            ),
            (
                f"--master grpc://w:1 --job_name worker {HOSTS}",
                "--master grpc://w:1 is a server that another program starts",
            ),
            ("--master w:1", "--master w:1: expected grpc://HOST:PORT"),
            ("--master grpc://w:0", "--master grpc://w:0: expected grpc://HOST:PORT"),
            (
                "--master grpc://w:1 --task 1",
                "--task 1: tasks count from 0 and --worker_replicas",
            ),
        ]
    ),
]


@pytest.mark.parametrize(("words", "tf_config", "message"), REFUSALS)
def test_faults_of_flags_and_tf_config_are_one_line(run, words, tf_config, message):
    code, err = run(*words.split(), tf_config=tf_config)
    assert code == 2
    assert err.startswith(f"tf-frame: {message}"), err
    assert err.count("\n") == 1 and "Traceback" not in err
