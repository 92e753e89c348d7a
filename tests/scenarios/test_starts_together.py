"""Ten starts at once: each run has a folder of its own, or is told in one line who has it."""

import os
import re

import pytest

import forked
from job import WORDS, job_environment

pytestmark = [pytest.mark.process, pytest.mark.slow, pytest.mark.timeout(600)]
STARTS = 10
# Rounds of ten starts, of each kind; START_ROUNDS=10 makes 200 starts.
ROUNDS = int(os.environ.get("START_ROUNDS", "1"))
COMMAND = (*forked.TF_FRAME, *WORDS, "--max_steps", "3", "--noevaluate")
REFUSAL = re.compile(
    r"tf-frame: another run is writing to --model_dir one \(process (\d+) on \S+\); "
    r"wait for it, or choose another\n"
)


def start_together(folder, *options):
    """Starts ten runs in a folder; returns process -> exit code, what it printed as an error."""
    environment = job_environment(folder)
    how = {"env": environment, "cwd": folder, "text": True}
    runs = []
    for number in range(STARTS):
        with open(folder / f"{number}.out", "w") as out, open(folder / f"{number}.err", "w") as err:
            runs.append(forked.Popen([*COMMAND, *options], stdout=out, stderr=err, **how))
    codes = [run.wait(200) for run in runs]
    errors = [(folder / f"{number}.err").read_text() for number in range(STARTS)]
    return {run.pid: end for run, end in zip(runs, zip(codes, errors, strict=True), strict=True)}


def holder(model_dir):
    return int(re.match(r"process (\d+) on", (model_dir / "run.lock").read_text())[1])


@pytest.mark.parametrize("number", range(ROUNDS))
def test_without_a_folder_each_run_makes_its_own(tmp_path, number):
    ends = start_together(tmp_path)
    assert set(ends.values()) == {(0, "")}, ends
    folders = list((tmp_path / "runs").iterdir())
    assert len(folders) == STARTS
    assert {holder(folder) for folder in folders} == set(ends)
    assert all((folder / "result.json").exists() for folder in folders)


@pytest.mark.parametrize("number", range(ROUNDS))
def test_in_one_folder_the_others_are_told_who_has_it(tmp_path, number):
    ends = start_together(tmp_path, "--model_dir", "one")
    trained = {pid for pid, (code, _) in ends.items() if code == 0}
    assert trained
    for code, error in ends.values():
        assert code in (0, 2), error
        if code:
            assert int(REFUSAL.fullmatch(error)[1]) in trained, error
    assert holder(tmp_path / "one") in trained
    assert (tmp_path / "one" / "result.json").exists()
