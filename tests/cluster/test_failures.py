"""Tasks that are killed and started again, or never come: each within stated seconds."""

import re

import pytest

from job import JOINT_WORDS, LAST_STEP, WORDS, RunningJob, assert_same, joint_job
from slow_cases import slow
from tf_frame.cluster.status import ENDED, read_statuses

pytestmark = [pytest.mark.process, pytest.mark.timeout(150)]

# From the start of a task that was killed until the job makes steps again; the start of a process
# and the building of its graph are most of it.
BACK_SECS = 30.0
SYNC = ("--sync_replicas",)


def make_job(folder, mode):
    if mode == "sync":
        return joint_job(folder, "sync")
    # Longer, because a worker goes on while the other worker is away.
    return RunningJob(folder, (*JOINT_WORDS, "--max_steps", "300"), num_ps=1, num_workers=2)


def disturbed(job, victim):
    """Runs a job whose task is killed and started again; returns the step of the kill."""
    job.start()
    job.wait_for_checkpoint(20)
    job.kill(victim)
    step = job.newest_step()
    job.start(victim)
    job.wait_for_checkpoint(step + 10, secs=BACK_SECS)
    job.ended_well()
    return step


# By default the chief is killed here and a server, which costs most, in the next test.
VICTIMS = [(task, mode) for task in ("chief-0", "worker-0", "ps-0") for mode in ("sync", "async")]


def check_values_back(log):
    """Checks that the chief went on from a checkpoint when it had lost a server."""
    again = [int(each) for each in re.findall(r"goes on from \S+model\.ckpt-(\d+)", log)]
    assert again and min(again) >= 20


@pytest.mark.slow
@pytest.mark.parametrize(("victim", "mode"), [VICTIMS[0], *(slow(*case) for case in VICTIMS[1:])])
def test_a_task_that_is_killed_and_started_again_rejoins(tmp_path, victim, mode, end_of):
    expected = end_of("sync") if mode == "sync" else None
    with make_job(tmp_path, mode) as job:
        step = disturbed(job, victim)
        log = job.log("chief-0")
        if victim == "ps-0":
            check_values_back(log)
        elif victim == "chief-0":
            assert f"resuming from {job.model_dir}/model.ckpt-{step}" in log
        values = job.variables()
        assert values["global_step"] >= LAST_STEP
        if expected is None or victim == "worker-0":
            # The examples of a step that was lost may be read again.
            assert abs(values["linear/biases"] - 3) < 0.2
        else:
            assert_same(values, expected)


@pytest.mark.slow
@pytest.mark.parametrize("victim", ["ps-0", "ps-1"])
def test_one_of_two_servers_that_is_killed_and_started_again_gets_its_values_back(
    tmp_path, victim, end_of
):
    words, expected = (*JOINT_WORDS, *SYNC), end_of("sync")
    with RunningJob(tmp_path, words, num_ps=2, num_workers=2) as job:
        disturbed(job, victim)
        check_values_back(job.log("chief-0"))
        assert_same(job.variables(), expected)


NO_SERVER = "no server listens at 127.0.0.1:"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("num_ps", "num_workers", "present", "waiting", "expected"),
    [
        (1, 2, ("ps-0", "worker-0"), "worker-0", "the chief has not initialised the variabl"),
        slow(1, 1, ("chief-0",), "chief-0", NO_SERVER),
        slow(0, 2, ("worker-0",), "worker-0", NO_SERVER),
        slow(0, 2, ("chief-0",), "chief-0", NO_SERVER),
    ],
)
def test_a_task_that_never_comes_is_an_error_after_the_time_limit(
    tmp_path, num_ps, num_workers, present, waiting, expected
):
    words = (*WORDS, "--max_steps", "10", "--cluster_timeout_secs", "3")
    with RunningJob(tmp_path, words, num_ps=num_ps, num_workers=num_workers) as job:
        job.start(*present)
        assert job.wait(waiting, secs=30) == [1]
        errors = [line for line in job.log(waiting).splitlines() if line.startswith("tf-frame: ")]
        assert len(errors) == 1 and errors[0].startswith(f"tf-frame: {expected}")
        assert "3 s" in errors[0]
        assert "Traceback" not in job.log(waiting)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("num_ps", "more"), [pytest.param(1, (), id="async"), pytest.param(1, SYNC, id="sync")]
)
def test_a_worker_that_comes_when_the_others_are_done_ends_well(tmp_path, num_ps, more):
    words = (*WORDS, "--max_steps", "20", "--noevaluate", *more)
    with RunningJob(tmp_path, words, num_ps=num_ps, num_workers=2) as job:
        if more:  # Synchronous steps need both.
            job.start()
            job.ended_well()
        else:
            job.start("ps-0", "chief-0")
            assert job.wait("ps-0", "chief-0") == [0, 0]
        job.start("worker-0")
        assert job.wait("worker-0", secs=BACK_SECS) == [0]
        assert "has reached step 2" in job.log("worker-0")
        statuses = {each.task: each.state for each in read_statuses(str(job.model_dir))}
        assert statuses["worker-0"] == ENDED


@pytest.mark.slow
def test_a_worker_may_begin_late(tmp_path):
    words = (*JOINT_WORDS, "--startup_delay_steps", "20")
    with RunningJob(tmp_path, words, num_ps=1, num_workers=2) as job:
        job.start()
        job.ended_well()
        # A worker that has not begun keeps no save waiting.
        assert "lacks the input position" not in job.log("chief-0")
    values = job.variables()
    assert values["global_step"] >= LAST_STEP
