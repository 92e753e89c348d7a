"""`tf-frame profile attach --tasks all`, and the clocks of the tasks of a job."""

import gzip
import json
import time

import pytest

from job import WORDS, RunningJob
from tf_frame.cli.main import main
from tf_frame.cluster import Cluster
from tf_frame.cluster.clock import clock_offset, clock_offsets
from tf_frame.cluster.status import TRAINING, read_statuses

pytestmark = [pytest.mark.process, pytest.mark.timeout(100)]

STEPS = 4
FILES = ("steps.json.gz", "xplane.pb")


def trains(job):
    states = {each.task: each.state for each in read_statuses(str(job.model_dir))}
    return states.get("chief-0") == states.get("worker-0") == TRAINING


@pytest.mark.slow
def test_a_profile_of_a_running_job_has_every_task(tmp_path, capsys):
    words = (*WORDS, "--max_steps", "100000", "--noevaluate", "--input.sleep_ms", "10")
    with RunningJob(tmp_path, words, num_ps=1, num_workers=2) as job:
        job.start()
        job._wait_for(lambda: trains(job), "training", 40)
        folder, options = str(job.model_dir), ("--steps", str(STEPS), "--timeout_secs", "30")
        assert main(["profile", "attach", folder, "--tasks", "all", *options]) == 0
        said = capsys.readouterr().out
        assert "asked chief-0, worker-0 for a profile" in said

        job.kill("ps-0")
        assert main(["profile", "attach", folder, "--tasks", "all", *options]) == 1
        assert "ended before it had written its profile" in capsys.readouterr().err
        job.kill()

    run = min((job.model_dir / "plugins" / "profile").iterdir())
    found = sorted(path.name.split("_", 1)[1] for path in run.iterdir() if path.name != TRACE)
    workers = [f"{task}.{kind}" for task in ("chief_0", "worker_0") for kind in FILES]
    assert found == sorted([*workers, "ps_0.xplane.pb"])
    assert f"wrote {run / TRACE}" in said
    rows = read_rows(run / TRACE)
    assert {"chief_0 Python", "worker_0 Python"} <= set(rows)
    assert {"chief_0 CPU:0", "worker_0 CPU:0", "ps_0 CPU:0"} <= set(rows)
    steps = [rows["chief_0 Python"], rows["worker_0 Python"]]
    assert [sum(each == "step" for each in row) for row in steps] == [STEPS, STEPS]


TRACE = "trace.json.gz"


def read_rows(path):
    """Categories of the events of each row of a trace."""
    events = json.loads(gzip.decompress(path.read_bytes()))["traceEvents"]
    names = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
    return {
        name: [e.get("cat") for e in events if e["pid"] == pid and e["ph"] == "X"]
        for pid, name in names.items()
    }


@pytest.fixture
def worker(cluster):
    targets = list(cluster)
    return Cluster(task_id=1, num_workers=2, num_ps_tasks=1, target=targets[1])


def test_the_clock_of_another_task(worker):
    ahead = 5 * 10**9
    began = time.monotonic_ns()
    measured = clock_offset(worker, "worker/task:0", lambda: time.time_ns() + ahead)
    assert abs(measured + ahead) < time.monotonic_ns() - began
    assert abs(measured + ahead) < 10**9


def test_clocks_that_a_task_measures(worker, monkeypatch):
    def measured(cluster, job):
        return {"worker/task:0": 7, "ps/task:0": 5}[job]

    monkeypatch.setattr("tf_frame.cluster.clock.clock_offset", measured)
    assert clock_offsets(worker) == {"worker_1": 7}
    chief = Cluster(num_workers=2, num_ps_tasks=1, target=worker.target)
    assert clock_offsets(chief) == {"ps_0": -5}
    assert clock_offsets(Cluster()) == {}
    near = {"ps": {0: "a:1"}, "worker": {0: "a:2", 1: "b:1"}}
    same = Cluster(num_workers=2, num_ps_tasks=1, target="grpc://a:2", jobs=near)
    assert clock_offsets(same) == {}
