import itertools

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
    """The cluster that every process of a step finds, and the tasks by node and local number."""
    found = {}
    clusters = []
    for node, count in enumerate(expand_counts(counts)):
        for local in range(count):
            own = environment(nodes, counts, node, local)
            config = slurm_tf_config(own, num_ps=num_ps, evaluator=evaluator)
            clusters.append(config["cluster"])
            found[node, local] = f"{config['task']['type']}-{config['task']['index']}"
    assert all(cluster == clusters[0] for cluster in clusters)
    return clusters[0], found


@pytest.mark.parametrize(
    "text, nodes",
    [
        ("n1", ["n1"]),
        ("localhost", ["localhost"]),
        ("node-1.site.org", ["node-1.site.org"]),
        ("n1,m2", ["n1", "m2"]),
        ("n[1-3]", ["n1", "n2", "n3"]),
        ("n[7]", ["n7"]),
        ("n[1-3,7],m04", ["n1", "n2", "n3", "n7", "m04"]),
        ("n[08-11]", ["n08", "n09", "n10", "n11"]),
        ("n[8-11]", ["n8", "n9", "n10", "n11"]),
        ("n[099-101]", ["n099", "n100", "n101"]),
        ("n[1,003,5-6]", ["n1", "n003", "n5", "n6"]),
        ("n[1-2]-ib", ["n1-ib", "n2-ib"]),
        ("r[1-2]n[1-2]", ["r1n1", "r1n2", "r2n1", "r2n2"]),
        ("r[1-2]n[01,3]x,m", ["r1n01x", "r1n3x", "r2n01x", "r2n3x", "m"]),
        ("[1-2]", ["1", "2"]),
    ],
)
def test_a_host_list_is_expanded(text, nodes):
    assert expand_nodes(text) == nodes


@pytest.mark.parametrize(
    "text",
    [
        *("", ",", "a,", ",a", "a,,b", "n[", "n]", "n[1", "n1]", "n[]", "n[1-]", "n[-2]"),
        *("n[1-2-3]", "n[a-b]", "n[3-1]", "n[1 ,2]", "n [1]", "n[[1]]", "n[1,]", "n[²]"),
        "n[0-99999999999]",
    ],
)
def test_what_is_no_host_list_is_refused(text):
    with pytest.raises(ValueError):
        expand_nodes(text)


@pytest.mark.parametrize(
    "text, counts",
    [("3", [3]), ("2(x3),1", [2, 2, 2, 1]), ("1,2,1(x2)", [1, 2, 1, 1]), ("128(x2)", [128, 128])],
)
def test_tasks_per_node_are_expanded(text, counts):
    assert expand_counts(text) == counts


@pytest.mark.parametrize("text", ["", "2(x3", "x2", "2(3)", "2,,1", "-1", "2(x)", "1(x999999)"])
def test_what_is_no_list_of_tasks_per_node_is_refused(text):
    with pytest.raises(ValueError):
        expand_counts(text)


def test_on_one_node_the_ranks_are_the_tasks_of_the_job_in_its_order():
    cluster, found = everywhere("vm", "4", num_ps=1, evaluator=True)
    assert found == {(0, 0): "ps-0", (0, 1): "chief-0", (0, 2): "worker-0", (0, 3): "evaluator-0"}
    assert cluster == {
        "ps": [f"vm:{FIRST}"],
        "chief": [f"vm:{FIRST + 1}"],
        "worker": [f"vm:{FIRST + 2}"],
    }


def test_parameter_servers_are_on_different_nodes_and_workers_on_all():
    cluster, found = everywhere("n[1-3]", "2(x3)", num_ps=2)
    assert found == {
        (0, 0): "ps-0",
        (1, 0): "ps-1",
        (2, 0): "chief-0",
        (0, 1): "worker-0",
        (1, 1): "worker-1",
        (2, 1): "worker-2",
    }
    assert cluster["ps"] == [f"n1:{FIRST}", f"n2:{FIRST}"]
    assert cluster["worker"] == [f"n{i}:{FIRST + 1}" for i in (1, 2, 3)]


def test_nodes_may_have_different_numbers_of_tasks():
    _, found = everywhere("a,b,c", "1,3,1", num_ps=1)
    assert found == {
        (0, 0): "ps-0",
        (1, 0): "chief-0",
        (2, 0): "worker-0",
        (1, 1): "worker-1",
        (1, 2): "worker-2",
    }


@pytest.mark.parametrize("num_ps, evaluator", [*itertools.product([0, 1, 3], [False, True])])
@pytest.mark.parametrize("nodes, counts", [("n[1-4]", "2(x3),1"), ("n9", "7"), ("a,b", "1,6")])
def test_every_task_has_one_place_and_one_address(nodes, counts, num_ps, evaluator):
    cluster, found = everywhere(nodes, counts, num_ps=num_ps, evaluator=evaluator)
    assert len(set(found.values())) == 7
    addresses = [address for job in cluster.values() for address in job]
    assert len(set(addresses)) == len(addresses) == 7 - evaluator
    for place, task in found.items():
        kind, index = task.split("-")
        if kind != "evaluator":
            node = expand_nodes(nodes)[place[0]]
            assert cluster[kind][int(index)] == f"{node}:{FIRST + place[1]}"


@pytest.mark.parametrize("local, trains", [(0, False), (1, True), (2, True), (3, False)])
def test_the_content_is_one_that_the_parser_of_tf_config_takes(local, trains):
    own = environment("vm", "4", 0, local)
    task = cluster_config(slurm_tf_config(own, num_ps=1, evaluator=True))
    assert task.trains is trains


def test_a_single_task_is_a_chief():
    config = slurm_tf_config(environment("vm", "1"), num_ps=0, evaluator=False)
    assert config == {"cluster": {"chief": [f"vm:{FIRST}"]}, "task": {"type": "chief", "index": 0}}


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
    assert slurm_tf_config(own, num_ps=1, evaluator=False)["cluster"] == {
        "ps": ["vm:3000"],
        "chief": ["vm:3001"],
    }


@pytest.mark.parametrize("port", ["0", "65535", "70000", "a", "-1"])
def test_a_first_port_that_is_no_port_or_leaves_no_room_is_refused(port):
    with pytest.raises(ConfigError, match=f"{PORT}={port}"):
        slurm_tf_config(environment("vm", "2", **{PORT: port}), num_ps=1, evaluator=False)


def refusal(own, num_ps=1, evaluator=False):
    with pytest.raises(ConfigError) as error:
        slurm_tf_config(own, num_ps=num_ps, evaluator=evaluator)
    return str(error.value)


def test_outside_of_slurm_the_error_says_how_to_get_in():
    assert refusal({}) == (
        "SLURM_JOB_ID is not set: this process does not run in a Slurm job; submit it with "
        "tf-frame launch --on slurm"
    )


def test_a_process_that_srun_did_not_start_is_told_so():
    own = {"SLURM_JOB_ID": "7", "SLURM_PROCID": "0", "SLURM_NODEID": "0", "SLURM_LOCALID": "0"}
    assert refusal(own) == (
        "SLURM_STEP_TASKS_PER_NODE is not set: this process is in the Slurm job 7, but srun did "
        "not start it; write srun before its command"
    )


def test_too_few_tasks_are_counted():
    assert refusal(environment("a,b", "1(x2)"), num_ps=1, evaluator=True) == (
        "the step has 2 tasks (SLURM_STEP_TASKS_PER_NODE=1(x2)), and the job needs at least 3 "
        "(1 ps, 1 chief, 1 evaluator); start it with more --ntasks"
    )


@pytest.mark.parametrize(
    "change, message",
    [
        ({"SLURM_STEP_NODELIST": "n[1-"}, "SLURM_STEP_NODELIST=n[1-: names and commas"),
        ({"SLURM_STEP_NODELIST": "n[2-1]"}, "SLURM_STEP_NODELIST=n[2-1]: the range 2-1 is empty"),
        ({"SLURM_STEP_NODELIST": "n[0-2]"}, "SLURM_STEP_NODELIST=n[0-2] has 3 nodes, and"),
        ({"SLURM_STEP_TASKS_PER_NODE": "2x2"}, "SLURM_STEP_TASKS_PER_NODE=2x2: '2x2' is no number"),
        ({"SLURM_JOB_ID": "seven"}, "SLURM_JOB_ID=seven is not a number"),
        ({"SLURM_LOCALID": "x"}, "SLURM_LOCALID=x is not a number"),
        ({"SLURM_NODEID": "2"}, "SLURM_NODEID=2 and SLURM_LOCALID=0 name a task that is not among"),
    ],
)
def test_a_malformed_variable_is_quoted(change, message):
    assert message in refusal(environment() | change)
