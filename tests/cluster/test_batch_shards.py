"""Jobs with `--batch_shards`, which are stopped and go on with another number of workers."""

import re
import signal

import pytest

from job import (
    LAST_STEP,
    SHARDED_WORDS,
    RunningJob,
    assert_same,
    run_alone,
    without_counts,
)

pytestmark = [pytest.mark.process, pytest.mark.timeout(1500)]

_PLUGINS = (
    *("--noevaluate", "--max_steps", str(LAST_STEP), "--learning_rate", "0.001"),
    *("--train_batch_size", "4", "--batch_shards", "4", "--save_summaries_steps", "0"),
    *("--save_checkpoint_steps", "10", "--save_checkpoint_secs", "none"),
)
_SMALL = ("--input.crop_size", "32", "--model.depth_multiplier", "0.1")
KINDS = {
    "counted": SHARDED_WORDS,
    "classification": ("run", "--plugin", "classification", *_PLUGINS),
    "deeplab": ("run", "--plugin", "deeplab", *_PLUGINS, *_SMALL),
}
# A busy machine builds the graphs of four tasks in some minutes.
SECS = 400


def make_job(folder, words, num_workers, num_ps):
    words = (*words, *(["--sync_replicas"] if num_ps else []))
    return RunningJob(folder, words, num_workers=num_workers, num_ps=num_ps)


@pytest.mark.slow
@pytest.mark.parametrize("num_ps", [0, 2], ids=["all-reduce", "parameter servers"])
@pytest.mark.parametrize(
    ("kind", "how"),
    [
        ("counted", "killed"),
        ("counted", "stopped"),
        ("classification", "killed"),
        ("deeplab", "killed"),
    ],
)
def test_four_two_three_and_one_workers_end_like_one_process(tmp_path, kind, how, num_ps):
    words = KINDS[kind]
    expected = run_alone(tmp_path, words)
    if kind == "counted":
        # 480 examples of 64: each one as often as the others, in turn.
        assert set(expected["seen"]) == {7, 8}
    for num_workers, step in ((4, 10), (2, 20), (3, 30)):
        with make_job(tmp_path, words, num_workers, num_ps) as job:
            job.start()
            job.wait_for_checkpoint(step, secs=SECS)
            if how == "killed":
                job.kill()
            else:
                job.send(signal.SIGTERM)
                assert set(job.wait(secs=SECS)) == {143}
            assert step <= job.newest_step() < LAST_STEP
    with make_job(tmp_path, words, 1, num_ps) as job:
        job.start()
        job.ended_well(secs=SECS)
        said = job.log("chief-0")
        assert "warning" not in said and re.search(r"resuming from \S+model.ckpt-\d+", said)
        assert_same(without_counts(job.variables(LAST_STEP)), without_counts(expected))
