"""Jobs that are stopped or killed as a whole, and started again."""

import signal

import pytest

from job import LAST_STEP, assert_same, joint_job

pytestmark = [pytest.mark.process, pytest.mark.timeout(120)]


def stop_at_step_10(job):
    job.start()
    job.wait_for_checkpoint(10)
    job.send(signal.SIGTERM)
    assert job.wait() == [143] * len(job.names)


# The launcher's own test stops a job in the same way.
@pytest.mark.slow
@pytest.mark.parametrize("kind", ["all-reduce", "sync"])
def test_a_job_stopped_by_sigterm_ends_like_one_never_stopped(tmp_path, kind, end_of):
    expected = end_of(kind)
    with joint_job(tmp_path, kind) as job:
        stop_at_step_10(job)
        stopped_at = job.newest_step()
        assert 10 < stopped_at < LAST_STEP
        assert f"stopped and saved at step {stopped_at} of {LAST_STEP}" in job.log("chief-0")
        job.start()
        job.ended_well()
        values = job.variables(LAST_STEP)
        assert_same(values, expected)
        assert values["seen"].tolist() == expected["seen"].tolist()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["sync", "all-reduce"])
def test_a_job_killed_as_a_whole_ends_like_one_never_stopped(tmp_path, kind, end_of):
    expected = end_of(kind)
    with joint_job(tmp_path, kind) as job:
        job.start()
        job.wait_for_checkpoint(20)
        job.kill()
        assert 20 <= job.newest_step() < LAST_STEP
        job.start()
        job.ended_well()
        assert_same(job.variables(LAST_STEP), expected)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["all-reduce", "sync"])
def test_another_number_of_workers_is_refused_unless_the_loss_is_allowed(tmp_path, kind):
    with joint_job(tmp_path, kind) as job:
        stop_at_step_10(job)
    with joint_job(tmp_path, kind, num_workers=1) as job:
        job.start()
        assert job.wait("chief-0") == [2]
        job.kill()
        assert "workers 2 -> none" in job.log("chief-0")
        assert "--allow_inexact_resume" in job.log("chief-0")
        assert "Traceback" not in job.log("chief-0")
        job.start(more=["--allow_inexact_resume"])
        job.ended_well()
        assert "a new pass over the data begins" in job.log("chief-0")
    assert job.variables()["global_step"] == LAST_STEP
