"""The command of every task is checked before anything starts."""

import pytest

from tf_frame.errors import ConfigError
from tf_frame.launch.words import job_of

VALUES = {"num_ps": 1, "num_workers": 2, "evaluator": False}
RUN = ["run", "--plugin", "deeplab"]


def test_a_job():
    words = [*RUN, "--model_dir", "somewhere", "--max_steps", "5"]
    job, setup = job_of(words, VALUES)
    assert job.words == words
    assert (job.model_dir, job.num_ps, job.num_workers) == ("somewhere", 1, 2)
    assert setup.config.max_steps == 5


def test_all_tasks_have_the_same_new_folder():
    job, setup = job_of(RUN, VALUES)
    assert job.words == [*RUN, "--model_dir", setup.model_dir]
    assert setup.model_dir.startswith("runs/deeplab-")


def test_a_dedicated_evaluator():
    job, _ = job_of(RUN, {**VALUES, "evaluator": True})
    assert job.evaluator
    assert job.words[-1] == "--dedicated_evaluator"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["evaluate", "x"], "after -- comes run, not 'evaluate'"),
        (["--plugin", "deeplab"], "after -- comes run, not '--plugin'"),
        ([*RUN, "--help_all"], "ask tf-frame run --help_all"),
        ([*RUN, "--dry_run"], "--dry_run is for one process"),
        ([*RUN, "--print_config"], "--print_config is for one process"),
        ([*RUN, "--show_placement"], "--show_placement is for one process"),
        ([*RUN, "--show_model"], "--show_model is for one process"),
        ([*RUN, "--mode", "export"], "use tf-frame export"),
        ([*RUN, "--task", "1"], "leave --task out"),
        ([*RUN, "--cluster_from", "none"], "leave --cluster_from out"),
        ([*RUN, "--max_step", "5"], "did you mean --max_steps?"),
        ([*RUN, "--max_steps", "x"], "not a whole number"),
        (["run"], "--plugin NAME"),
    ],
)
def test_wrong_words(words, message):
    with pytest.raises(ConfigError) as error:
        job_of(words, VALUES)
    assert message in str(error.value)
    assert "\n" not in str(error.value)
