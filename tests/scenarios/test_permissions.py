"""Other users cannot write to the files of a run, whatever the umask of the user."""

import os
import stat
import time

import pytest

import forked
from job import WORDS, job_environment
from tf_frame.cli.main import main
from tf_frame.cluster.status import TRAINING, read_statuses
from tf_frame.testing.local_job import wait_for

pytestmark = [pytest.mark.process, pytest.mark.timeout(100)]


@pytest.fixture
def no_umask():
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.fixture
def training(tmp_path, no_umask):
    """A run that trains until it is stopped, started without a umask."""
    words = (*forked.TF_FRAME, *WORDS, "--max_steps", "100000", "--noevaluate")
    words = (*words, "--input.sleep_ms", "10", "--model_dir", tmp_path / "runs" / "first")
    log = tmp_path / "log"
    started = forked.start_logged(words, log, env=job_environment(tmp_path), cwd=tmp_path)
    try:
        yield started
    finally:
        forked.kill_all([started])


def trains(model_dir):
    return any(each.state == TRAINING for each in read_statuses(str(model_dir)))


def writable_by_others(folder):
    paths = [folder, *folder.rglob("*")]
    modes = {str(path): stat.S_IMODE(path.lstat().st_mode) for path in paths}
    return {path: oct(mode) for path, mode in modes.items() if mode & 0o022}


def test_files_of_a_run_and_its_captures(training, tmp_path):
    model_dir = tmp_path / "runs" / "first"
    wait_for(lambda: trains(model_dir), "training", 40)
    words = ["profile", "attach", str(model_dir), "--steps", "2", "--timeout_secs", "30"]
    os.umask(0)
    assert main(words) == 0, (tmp_path / "log").read_text()
    training.terminate()
    assert training.wait(60) == 143
    names = {path.name for path in model_dir.rglob("*")}
    assert {"run.lock", "tasks", "chief-0.json", "checkpoint", "config.yaml"} <= names
    assert any(name.endswith(".steps.json.gz") for name in names)
    assert writable_by_others(tmp_path / "runs") == {}


def test_a_request_that_others_can_write_makes_no_profile(training, tmp_path):
    model_dir = tmp_path / "runs" / "first"
    wait_for(lambda: trains(model_dir), "training", 40)
    request = model_dir / "profile_request.json"
    request.write_text(f'{{"label": "a", "steps": 2, "began": {time.time()}, "pid": 1}}')
    (status,) = read_statuses(str(model_dir))
    os.kill(status.pid, 12)  # SIGUSR2, as `tf-frame profile attach` sends it.
    wait_for(lambda: "is not obeyed" in (tmp_path / "log").read_text(), "the refusal", 5)
    training.terminate()
    assert training.wait(60) == 143
    assert not (model_dir / "plugins").exists()
