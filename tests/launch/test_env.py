import json
import os
import re
import shlex
import subprocess

import pytest
from hypothesis import strategies

from properties import COUNTS, TEXTS, check_many
from tf_frame.cluster.tf_config import cluster_config
from tf_frame.errors import ConfigError
from tf_frame.launch import env
from tf_frame.launch.job import Job

JOB = Job(
    words=["run", "--plugin", "toy", "--model_dir", "runs/it's new"],
    model_dir="runs/it's new",
    num_ps=1,
    num_workers=2,
    evaluator=True,
)
HOSTS = ("a:1", "b:2", "c:3")


def printed(job, hosts, capsys):
    assert env.main(job, {"hosts": hosts}) == 0
    return capsys.readouterr().out.splitlines()


def test_each_task_has_a_comment_and_a_line_for_a_shell(capsys):
    lines = printed(JOB, HOSTS, capsys)
    words = [*JOB.words[:-1], os.path.abspath(JOB.model_dir)]  # Wherever a task starts.
    assert lines[::2] == ["# ps-0 at a:1", "# chief-0 at b:2", "# worker-0 at c:3", "# evaluator-0"]
    assert all(shlex.split(line)[1:] == ["tf-frame", *words] for line in lines[1::2])
    texts = [shlex.split(line)[0].removeprefix("TF_CONFIG=") for line in lines[1::2]]
    cluster = {"ps": ["a:1"], "chief": ["b:2"], "worker": ["c:3"]}
    assert [json.loads(text)["cluster"] for text in texts] == [cluster] * 4
    tasks = [cluster_config(json.loads(text)) for text in texts]
    assert [task.task_type for task in tasks] == ["ps", "chief", "worker", "evaluator"]


def test_a_shell_can_run_a_line(capsys):
    import subprocess

    line = printed(JOB, HOSTS, capsys)[3].replace(" tf-frame ", " env ", 1).split(" run ")[0]
    shown = subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=True).stdout
    config = json.loads(re.search("TF_CONFIG=(.*)", shown)[1])
    assert config["task"] == {"type": "chief", "index": 0}


def test_without_hosts_the_tasks_are_on_this_machine(capsys):
    comments = printed(JOB, (), capsys)[:6:2]
    assert [text.rsplit(maxsplit=1)[1] for text in comments] == [
        f"127.0.0.1:{port}" for port in (2222, 2223, 2224)
    ]


@pytest.mark.parametrize(
    "hosts, message",
    [
        (("a:1", "b:2"), "--hosts has 2 addresses (a:1, b:2), and the job needs 3: ps-0, chief-0"),
        (("a:1", "b:2", "c"), "--hosts: 'c' is no host:port"),
        (("a:1", "b:2", ":3"), "--hosts: ':3' is no host:port"),
        (("a:1", "b:2", "c:0"), "--hosts: 'c:0' is no host:port"),
        (("a:1", "b:2", "c:65536"), "--hosts: 'c:65536' is no host:port"),
        (("a:1", "b:2", "a:1"), "--hosts: a:1 stands there twice"),
    ],
)
def test_addresses_that_are_not_one_of_each_task_are_refused(hosts, message):
    with pytest.raises(ConfigError, match=re.escape(message)):
        env.main(JOB, {"hosts": hosts})


@COUNTS
def test_a_shell_reads_the_words_of_the_job(count, capsys):
    def check(words):
        job = Job(words=["run", *words], model_dir="/a")
        _, line = printed(job, (), capsys)
        program = line.replace(" tf-frame ", " printf '%s\\0' ", 1)
        done = subprocess.run(["bash", "-c", program], capture_output=True, check=True)
        assert done.stdout.decode().split("\0")[:-1] == list(job.words)

    words = TEXTS.filter(lambda text: "\0" not in text)
    check_many(check, count, words=strategies.lists(words, max_size=5))
