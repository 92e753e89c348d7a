import itertools
import re

import pytest

from tf_frame.cluster.slurm import PORT, expand_counts, expand_nodes, slurm_tf_config
from tf_frame.cluster.tf_config import cluster_config
from tf_frame.errors import ConfigError

# The job 7 has the ports from 20000 + 7 * 64 on.
FIRST = 20448


def environment(nodes="n[0-1]", counts="2(x2)", node=0, local=0, **more):
    return {
        "SLURM_JOB_ID": "7",
        "SLURM_STEP_NODELIST": nodes,
        "SLURM_STEP_TASKS_PER_NODE": counts,
        "SLURM_NODEID": str(node),
        "SLURM_LOCALID": str(local),
        **more,
    }


def everywhere(nodes, counts, *, num_ps=0, evaluator=False):
    """The cluster that every process of a step finds, and the names of the tasks on each node."""
    clusters, names = [], []
    for node, count in enumerate(expand_counts(counts)):
        names.append([])
        for local in range(count):
            own = environment(nodes, counts, node, local)
            config = slurm_tf_config(own, num_ps=num_ps, evaluator=evaluator)
            kind = config["task"]["type"]
            assert cluster_config(config).trains == (kind in ("chief", "worker"))
            clusters.append(config["cluster"])
            names[node].append(f"{kind}-{config['task']['index']}")
    assert all(cluster == clusters[0] for cluster in clusters)
    return clusters[0], names


@pytest.mark.parametrize(
    "expand, text, items",
    [
        (expand_nodes, "n1", ["n1"]),
        (expand_nodes, "localhost", ["localhost"]),
        (expand_nodes, "node-1.site.org", ["node-1.site.org"]),
        (expand_nodes, "n1,m2", ["n1", "m2"]),
        (expand_nodes, "n[1-3]", ["n1", "n2", "n3"]),
        (expand_nodes, "n[7]", ["n7"]),
        (expand_nodes, "n[1-3,7],m04", ["n1", "n2", "n3", "n7", "m04"]),
        (expand_nodes, "n[08-11]", ["n08", "n09", "n10", "n11"]),
        (expand_nodes, "n[8-11]", ["n8", "n9", "n10", "n11"]),
        (expand_nodes, "n[099-101]", ["n099", "n100", "n101"]),
        (expand_nodes, "n[1,003,5-6]", ["n1", "n003", "n5", "n6"]),
        (expand_nodes, "n[1-2]-ib", ["n1-ib", "n2-ib"]),
        (expand_nodes, "r[1-2]n[1-2]", ["r1n1", "r1n2", "r2n1", "r2n2"]),
        (expand_nodes, "r[1-2]n[01,3]x,m", ["r1n01x", "r1n3x", "r2n01x", "r2n3x", "m"]),
        (expand_nodes, "[1-2]", ["1", "2"]),
        (expand_counts, "3", [3]),
        (expand_counts, "2(x3),1", [2, 2, 2, 1]),
        (expand_counts, "1,2,1(x2)", [1, 2, 1, 1]),
        (expand_counts, "128(x2)", [128, 128]),
    ],
)
def test_lists_of_slurm_are_expanded(expand, text, items):
    assert expand(text) == items


HOST_FAULTS = [
    *("", ",", "a,", ",a", "a,,b", "n[", "n]", "n[1", "n1]", "n[]", "n[1-]", "n[-2]"),
    *("n[1-2-3]", "n[a-b]", "n[3-1]", "n[1 ,2]", "n [1]", "n[[1]]", "n[1,]", "n[²]"),
    "n[0-99999999999]",
]
COUNT_FAULTS = ["", "2(x3", "x2", "2(3)", "2,,1", "-1", "2(x)", "1(x999999)"]


@pytest.mark.parametrize(
    "expand, text",
    [*((expand_nodes, t) for t in HOST_FAULTS), *((expand_counts, t) for t in COUNT_FAULTS)],
)
def test_malformed_lists_are_refused(expand, text):
    with pytest.raises(ValueError):
        expand(text)


@pytest.mark.parametrize(
    "nodes, counts, options, tasks",
    [
        ("vm", "1", {}, ["chief-0"]),
        # On one node, the ranks are the tasks in their order.
        ("vm", "4", {"num_ps": 1, "evaluator": True}, ["ps-0 chief-0 worker-0 evaluator-0"]),
        # Parameter servers are on different nodes, and workers on all.
        ("n[1-3]", "2(x3)", {"num_ps": 2}, ["ps-0 worker-0", "ps-1 worker-1", "chief-0 worker-2"]),
        ("a,b,c", "1,3,1", {"num_ps": 1}, ["ps-0", "chief-0 worker-1 worker-2", "worker-0"]),
    ],
)
def test_tasks_are_spread_over_the_nodes(nodes, counts, options, tasks):
    assert everywhere(nodes, counts, **options)[1] == [names.split() for names in tasks]


@pytest.mark.parametrize("num_ps, evaluator", [*itertools.product([0, 1, 3], [False, True])])
@pytest.mark.parametrize("nodes, counts", [("n[1-4]", "2(x3),1"), ("n9", "7"), ("a,b", "1,6")])
def test_every_task_has_one_place_and_one_address(nodes, counts, num_ps, evaluator):
    cluster, tasks = everywhere(nodes, counts, num_ps=num_ps, evaluator=evaluator)
    assert len({name for names in tasks for name in names}) == 7
    addresses = [address for job in cluster.values() for address in job]
    assert len(set(addresses)) == len(addresses) == 7 - evaluator
    for node, names in zip(expand_nodes(nodes), tasks, strict=True):
        for local, name in enumerate(names):
            kind, index = name.split("-")
            if kind != "evaluator":
                assert cluster[kind][int(index)] == f"{node}:{FIRST + local}"


def ports(job, count=64):
    own = environment("vm", str(count), SLURM_JOB_ID=str(job))
    cluster = slurm_tf_config(own, num_ps=0, evaluator=False)["cluster"]
    return {int(address.split(":")[1]) for tasks in cluster.values() for address in tasks}


def test_jobs_that_follow_each_other_have_different_ports_below_those_of_connections():
    used = [ports(job) for job in range(1000, 1199)]
    assert len(set.union(*used)) == 199 * 64
    assert min(map(min, used)) >= 20000 and max(map(max, used)) < 32768


def test_the_first_port_can_be_given():
    own = environment("vm", "2", local=1, **{PORT: "3000"})
    cluster = slurm_tf_config(own, num_ps=1, evaluator=False)["cluster"]
    assert cluster == {"ps": ["vm:3000"], "chief": ["vm:3001"]}


def test_a_number_of_any_length_is_refused_in_a_short_line():
    for name in ("SLURM_JOB_ID", "SLURM_NODEID", PORT):
        with pytest.raises(ConfigError, match=f"{name}=999.* is not a number") as error:
            slurm_tf_config(environment() | {name: "9" * 5000}, num_ps=1, evaluator=True)
        assert len(str(error.value)) < 300


MISSING = "is not set: this process"


@pytest.mark.parametrize(
    "variables, message",
    [
        ({}, f"SLURM_JOB_ID {MISSING} does not run in a Slurm job; submit it with tf-frame launch"),
        (
            {"SLURM_JOB_ID": "7", "SLURM_PROCID": "0", "SLURM_NODEID": "0", "SLURM_LOCALID": "0"},
            f"SLURM_STEP_TASKS_PER_NODE {MISSING} is in the Slurm job 7, but srun did not start "
            "it; write srun before its command",
        ),
        (
            environment("a,b", "1(x2)"),
            "the step has 2 tasks (SLURM_STEP_TASKS_PER_NODE=1(x2)), and the job needs at least 3 "
            "(1 ps, 1 chief, 1 evaluator); start it with more --ntasks",
        ),
        *(
            (environment() | {name: value}, f"{name}={value}{message}")
            for name, value, message in [
                ("SLURM_STEP_NODELIST", "n[1-", ": names and commas"),
                ("SLURM_STEP_NODELIST", "n[2-1]", ": the range 2-1 is empty"),
                ("SLURM_STEP_NODELIST", "n[0-2]", " has 3 nodes, and"),
                ("SLURM_STEP_TASKS_PER_NODE", "2x2", ": '2x2' is no number"),
                ("SLURM_JOB_ID", "seven", " is not a number"),
                ("SLURM_LOCALID", "x", " is not a number"),
                ("SLURM_STEP_NODELIST", "n[1-9999]m[1-9999]", ": more than 100,000 nodes"),
                ("SLURM_STEP_TASKS_PER_NODE", "9999999", ": more than 100,000 nodes or 1,000,000"),
                ("SLURM_STEP_TASKS_PER_NODE", "1(x99999),1(x99999)", ": more than 100,000 nodes"),
                ("SLURM_NODEID", "2", " and SLURM_LOCALID=0 name a task that is not among"),
                (PORT, "0", ": 2 ports"),
                (PORT, "65535", ": 2 ports"),
                (PORT, "70000", ": 2 ports"),
                (PORT, "a", " is not a number"),
                (PORT, "-1", " is not a number"),
            ]
        ),
    ],
)
def test_faults_of_the_environment_are_quoted(variables, message):
    with pytest.raises(ConfigError, match=f"^{re.escape(message)}"):
        slurm_tf_config(variables, num_ps=1, evaluator=True)
