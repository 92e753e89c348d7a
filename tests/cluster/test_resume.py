"""Jobs that are stopped or killed as a whole, and started again."""

import signal

import pytest

from job import WORDS, RunningJob, assert_same

pytestmark = [pytest.mark.process, pytest.mark.timeout(120)]

LAST = 60
# Momentum, so that the slots count as well; and shuffled data.
TRAINING = (
    *WORDS[:3],
    *("--optimizer", "momentum", "--learning_rate", "0.01", "--noevaluate"),
    *("--max_steps", str(LAST), "--train_batch_size", "4", "--input.shuffle"),
    *("--save_checkpoint_steps", "10", "--save_checkpoint_secs", "none"),
)
SLOW = ("--input.sleep_ms", "40")
# Number of parameter servers, and options.
JOBS = {"sync": (1, ("--sync_replicas",)), "all-reduce": (0, ())}


@pytest.fixture(scope="module", params=JOBS)
def undisturbed(request, tmp_path_factory):
    """A kind of job, and the last checkpoint of one that was never stopped."""
    num_ps, more = JOBS[request.param]
    folder = tmp_path_factory.mktemp(request.param)
    # The sleep is an option of the input, which a checkpoint's position must fit.
    with RunningJob(folder, (*TRAINING, *SLOW, *more), num_ps=num_ps, num_workers=2) as job:
        job.start()
        job.ended_well()
    return num_ps, more, job.variables(LAST)


def running(folder, num_ps, more, num_workers=2):
    words = (*TRAINING, *SLOW, *more)
    return RunningJob(folder, words, num_ps=num_ps, num_workers=num_workers)


def test_a_job_stopped_by_sigterm_ends_like_one_never_stopped(tmp_path, undisturbed):
    num_ps, more, expected = undisturbed
    with running(tmp_path, num_ps, more) as job:
        job.start()
        job.wait_for_checkpoint(10)
        job.send(signal.SIGTERM)
        assert job.wait() == [143] * len(job.names)
        stopped_at = job.newest_step()
        assert 10 < stopped_at < LAST
        assert f"stopped and saved at step {stopped_at} of {LAST}" in job.log("chief-0")
        job.start()
        job.ended_well()
    assert_same(job.variables(LAST), expected)


def test_a_job_killed_as_a_whole_ends_like_one_never_stopped(tmp_path, undisturbed):
    num_ps, more, expected = undisturbed
    with running(tmp_path, num_ps, more) as job:
        job.start()
        job.wait_for_checkpoint(20)
        job.kill()
        assert 20 <= job.newest_step() < LAST
        job.start()
        job.ended_well()
    assert_same(job.variables(LAST), expected)


@pytest.mark.parametrize("kind", JOBS)
def test_another_number_of_workers_is_refused_unless_the_loss_is_allowed(tmp_path, kind):
    num_ps, more = JOBS[kind]
    with running(tmp_path, num_ps, more) as job:
        job.start()
        job.wait_for_checkpoint(10)
        job.send(signal.SIGTERM)
        assert job.wait() == [143] * len(job.names)
    with running(tmp_path, num_ps, more, num_workers=1) as job:
        job.start()
        assert job.wait("chief-0") == [2]
        job.send(signal.SIGTERM)
        job.wait()
        assert "workers 2 -> None" in job.log("chief-0")
        assert "--allow_inexact_resume" in job.log("chief-0")
        assert "Traceback" not in job.log("chief-0")
        job.start(more=["--allow_inexact_resume"])
        job.ended_well()
        assert "a new pass over the data begins" in job.log("chief-0")
    assert job.variables()["global_step"] == LAST
