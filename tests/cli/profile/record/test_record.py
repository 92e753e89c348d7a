"""`tf-frame profile` and `attach` as a user sees them, with the toy plugin."""

import json
import subprocess
import sys

import pytest

import forked

pytestmark = pytest.mark.process


@pytest.fixture
def settings(toy_environment, tmp_path):
    output = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return {"env": toy_environment, "cwd": tmp_path, **output}


def command(*words):
    return [sys.executable, "-m", "tf_frame", *map(str, words)]


@pytest.fixture
def profile(settings):
    """Runs `tf-frame profile`; returns the finished process."""
    return lambda *words: forked.run(command("profile", *words), timeout=120, **settings)


@pytest.fixture
def training(settings, tmp_path):
    """Starts a long training; yields its folder once it makes steps."""
    words = command("run", "--plugin", "toy", "--model_dir", "toy", "--max_steps", 10**8)
    # Profiles that are asked for are where the one who asks looks for them, all the same.
    words += ["--log_every_n_steps", "1000", "--profile_dir", "elsewhere"]
    process = forked.Popen(words, **settings)
    for line in process.stdout:
        if line.startswith("step "):
            break
    yield process, tmp_path / "toy"
    forked.kill_all([process])


def test_one_command_profiles_and_reports(profile, tmp_path):
    finished = profile("--plugin", "toy", "--steps", 3, "--warmup", 2, "--model_dir", "found")
    assert finished.returncode == 0, finished.stderr
    assert "A step takes " in finished.stdout and "Where the time goes" in finished.stdout
    assert "tf-frame-profile-" not in finished.stdout  # The folder of the training is gone.
    assert finished.stdout.endswith("this report again: tf-frame profile show found\n")
    (run,) = (tmp_path / "found" / "plugins" / "profile").iterdir()
    names = sorted(path.name.split("_", 1)[1] for path in run.iterdir())
    assert names == ["worker_0.steps.json.gz", "worker_0.xplane.pb"]
    assert not list((tmp_path / "found").glob("model.ckpt*"))
    printed = profile("show", "found", "--json")
    report = json.loads(printed.stdout)
    assert len(report["step"]["ms_of_steps"]) == 3
    phases = sum(each["ms"] for each in report["phases"])
    assert phases == pytest.approx(report["step"]["mean_ms"], rel=0.03)


def test_a_running_training_is_profiled_and_goes_on(profile, training):
    process, folder = training
    attached = profile("attach", folder, "--steps", 4, "--json")
    assert attached.returncode == 0, attached.stderr
    assert len(json.loads(attached.stdout)["step"]["ms_of_steps"]) == 4
    assert any("as tf-frame profile attach asks" in line for line in process.stdout)
    assert any(line.startswith("step ") for line in process.stdout)
    again = profile("attach", folder, "--tasks", "all")
    assert again.returncode == 0, again.stderr
    assert len(list((folder / "plugins" / "profile").iterdir())) == 2
    assert process.poll() is None


@pytest.mark.slow
def test_a_training_that_has_ended_is_not_asked(profile, training):
    process, folder = training
    forked.kill_all([process])
    finished = profile("attach", folder)
    assert finished.returncode == 2
    assert "has ended" in finished.stderr and "Traceback" not in finished.stderr


def test_a_folder_without_a_training_is_an_error(profile, tmp_path):
    finished = profile("attach", tmp_path)
    assert finished.returncode == 2 and "no status files" in finished.stderr
