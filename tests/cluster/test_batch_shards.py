"""Jobs with `--batch_shards`, which are stopped and go on with another number of workers."""

import re
import signal

import pytest

from job import JOINT_WORDS, LAST_STEP, RunningJob, assert_same, run_alone

pytestmark = [pytest.mark.process, pytest.mark.timeout(300)]

WORDS = (
    *JOINT_WORDS,
    *("--train_batch_size", "8", "--batch_shards", "4"),
    *("--model.dropout", "0.3", "--model.l2", "0.1"),
)


SYNC = (*WORDS, "--sync_replicas")


def job_of(folder, num_workers, num_ps):
    return RunningJob(folder, SYNC if num_ps else WORDS, num_workers=num_workers, num_ps=num_ps)


def variables(values):
    """Without the count of examples, which each worker has of its own."""
    return {name: value for name, value in values.items() if name != "seen"}


@pytest.mark.slow
@pytest.mark.parametrize("num_ps", [0, 2], ids=["all-reduce", "parameter servers"])
@pytest.mark.parametrize("how", ["killed", "stopped"])
def test_four_two_three_and_one_workers_end_like_one_process(tmp_path, how, num_ps):
    expected = run_alone(tmp_path, WORDS)
    for num_workers, step in ((4, 10), (2, 20), (3, 30)):
        with job_of(tmp_path, num_workers, num_ps) as job:
            job.start()
            job.wait_for_checkpoint(step)
            if how == "killed":
                job.kill()
            else:
                job.send(signal.SIGTERM)
                assert set(job.wait()) == {143}
            assert step <= job.newest_step() < LAST_STEP
    with job_of(tmp_path, 1, num_ps) as job:
        job.start()
        job.ended_well()
        said = job.log("chief-0")
        assert "warning" not in said and re.search(r"resuming from \S+model.ckpt-\d+", said)
        assert_same(variables(job.variables(LAST_STEP)), variables(expected))
