"""Jobs of real processes that nothing disturbs: they train, and end by themselves."""

import json

import numpy as np
import pytest

from job import WORDS, RunningJob, assert_same, run_alone

pytestmark = [pytest.mark.process, pytest.mark.timeout(100)]

SHORT = (*WORDS, "--max_steps", "60", "--noevaluate")
MOST_END_SECS = 5.0
SYNC = "--sync_replicas"


def run_job(folder, words, **tasks):
    """Runs a job until all tasks have ended well; returns the job."""
    with RunningJob(folder, words, **tasks) as job:
        job.start()
        job.ended_well()
    return job


@pytest.mark.slow
@pytest.mark.parametrize(
    ("num_ps", "num_workers", "more"),
    [
        pytest.param(1, 1, (), id="1-ps-1-worker", marks=pytest.mark.slow),
        pytest.param(2, 3, (), id="2-ps-3-workers-async", marks=pytest.mark.slow),
        pytest.param(2, 2, (SYNC,), id="2-ps-2-workers-sync", marks=pytest.mark.slow),
        pytest.param(0, 2, (), id="2-workers-all-reduce"),
    ],
)
def test_all_tasks_of_a_job_end_by_themselves(tmp_path, num_ps, num_workers, more):
    words = (*SHORT, *more)
    job = run_job(tmp_path, words, num_ps=num_ps, num_workers=num_workers)
    assert job.secs_to_last_exit() < MOST_END_SECS
    result = json.loads((job.model_dir / "result.json").read_text())
    assert result["stopped_by"] is None
    values = job.variables()
    assert values["global_step"] == result["global_step"] >= 60
    np.testing.assert_allclose(values["linear/biases"], [3.0], atol=0.5)
    check_shards(job, num_ps + 1 if num_ps > 1 else 1)
    assert {name: job.status(name).state for name in job.names} == dict.fromkeys(job.names, "ended")


def check_shards(job, count):
    """Of several servers each saves its own part, and the chief the positions in the input."""
    assert len(list(job.model_dir.glob(f"model.ckpt-{job.newest_step()}.data-*"))) == count


@pytest.mark.slow
def test_a_job_that_keeps_no_positions_does_not_wait_for_them(tmp_path):
    words = (*SHORT, SYNC, "--replicas_to_aggregate", "3")
    words = (*words, "--save_checkpoint_steps", "20", "--save_checkpoint_secs", "none")
    job = run_job(tmp_path, words, num_ps=1, num_workers=2)
    assert job.secs_to_last_exit() < MOST_END_SECS
    assert "lacks the input position" not in job.log("chief-0")


@pytest.mark.slow
def test_an_evaluator_evaluates_the_last_checkpoint_and_ends(tmp_path):
    words = (*WORDS, "--max_steps", "40", "--save_checkpoint_steps", "20")
    words = (*words, "--save_checkpoint_secs", "none", "--dedicated_evaluator")
    job = run_job(tmp_path, words, evaluator=True)
    result = json.loads((job.model_dir / "result.json").read_text())
    assert result["global_step"] == result["metrics_step"] == 40
    assert result["metrics"]["mean_absolute_error"] < 1
    assert "evaluation at step 40" in job.log("evaluator-0")
    assert "evaluation at step" not in job.log("chief-0")


TWENTY = (*WORDS, "--max_steps", "20", "--noevaluate")
TWENTY += ("--train_batch_size", "16", "--batch_size_scope", "global")


@pytest.mark.parametrize(
    ("num_ps", "more"),
    [
        pytest.param(1, (SYNC,), id="sync"),
        pytest.param(0, (), id="all-reduce", marks=pytest.mark.slow),
    ],
)
def test_twenty_steps_of_two_workers_are_those_of_one_process_with_the_joint_batch(
    tmp_path, num_ps, more
):
    alone = run_alone(tmp_path, TWENTY)
    job = run_job(tmp_path, (*TWENTY, *more), num_ps=num_ps, num_workers=2)
    joint = job.variables()
    names = {"global_step", "linear/weights", "linear/biases"}
    assert_same({n: joint[n] for n in names}, {n: alone[n] for n in names}, atol=1e-5)
    assert joint["global_step"] == 20
    assert np.abs(joint["linear/weights"]).min() > 0.1


EXAMPLES = ("--model.num_examples", "96", "--input.num_examples", "96", "--input.shuffle")
EPOCHS = (*WORDS, *EXAMPLES, "--train_batch_size", "8", "--noevaluate")


@pytest.mark.slow
def test_synchronous_workers_read_each_example_once_in_an_epoch(tmp_path):
    # 8 steps of 3 workers with 8 examples each are two epochs.
    words = (*EPOCHS, "--max_steps", "8", SYNC)
    job = run_job(tmp_path, words, num_ps=1, num_workers=3)
    assert job.variables()["seen"].tolist() == [2] * 96


@pytest.mark.slow
def test_asynchronous_workers_read_each_example_of_their_shard_once_in_an_epoch(tmp_path):
    words = (*EPOCHS, "--max_steps", "60", "--input.sleep_ms", "50")
    job = run_job(tmp_path, words, num_ps=2, num_workers=3)
    values = job.variables()
    assert values["seen"].sum() == 8 * values["global_step"]
    shards = [values["seen"][worker::3] for worker in range(3)]
    assert shards[0].min() > 0  # The chief is there from the first step on.
    for shard in shards:  # Another worker may come too late for a whole epoch.
        assert shard.max() == shard.min() + 1 or shard.max() == shard.min() > 0


@pytest.mark.slow
def test_partitioned_variables_and_clones_are_trained_over_two_servers(tmp_path):
    words = (*WORDS, "--max_steps", "60", "--noevaluate", "--model.parts", "2")
    words = (*words, "--num_clones", "2", "--clone_on_cpu", "--placement", "balanced")
    job = run_job(tmp_path, words, num_ps=2, num_workers=2)
    assert job.secs_to_last_exit() < MOST_END_SECS
    values = job.variables()
    check_shards(job, 3)
    assert values["table"].shape == (12, 4)
    assert np.abs(values["table"]).max() < 1e-2
    assert values["seen"].sum() == 32 * values["global_step"]
    np.testing.assert_allclose(values["linear/biases"], [3.0], atol=0.5)
