"""`tf-frame run` as a user sees it, with the toy plugin in processes of its own."""

import json
import math
import os
import re
import shutil
import signal
import subprocess
import sys

import pytest
import yaml

import forked
from tf_frame.testing.ports import free_ports

pytestmark = pytest.mark.process


@pytest.fixture
def settings(toy_environment, tmp_path):
    """Arguments of every process: a temporary folder, all output in one stream."""
    output = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    return {"env": toy_environment, "cwd": tmp_path, **output}


def command(words):
    return [sys.executable, "-m", "tf_frame", "run", *map(str, words)]


@pytest.fixture
def run(settings):
    """Runs `tf-frame run`; returns the finished process."""
    return lambda *words: forked.run(command(words), timeout=120, **settings)


@pytest.fixture
def run_anew(settings):
    """Runs `tf-frame run` in a process that imports TensorFlow itself, with its log."""
    return lambda *words: subprocess.run(command(words), timeout=120, **settings)


@pytest.fixture
def started(settings):
    """Starts `tf-frame run` and returns the process once it has printed `until`."""
    processes = []

    def start(*words, until):
        process = forked.Popen(command(words), **settings)
        processes.append(process)
        seen = []
        for line in process.stdout:
            seen.append(line)
            if until in line:
                return process
        raise AssertionError("".join(seen))

    yield start
    forked.kill_all(processes)


TOY = ("--plugin", "toy", "--learning_rate", "0.01")


@pytest.fixture(scope="module")
def trained(toy_environment, tmp_path_factory):
    """The folder of a run of three steps."""
    folder = tmp_path_factory.mktemp("trained")
    words = command([*TOY, "--model_dir", "here", "--max_steps", 3])
    forked.run(words, env=toy_environment, cwd=folder, capture_output=True, check=True)
    return folder / "here"


@pytest.fixture
def here(trained, tmp_path):
    """A copy of that folder as `here`."""
    return shutil.copytree(trained, tmp_path / "here")


def result(folder):
    return json.loads((folder / "result.json").read_text())


@pytest.mark.slow
def test_it_trains_evaluates_and_says_where(run, tmp_path):
    process = run(*TOY, "--max_steps", 30, "--log_every_n_steps", 10)
    assert process.returncode == 0, process.stdout
    (folder,) = (tmp_path / "runs").iterdir()
    assert folder.name.startswith("toy-")
    for expected in (f"runs/{folder.name}", "tf-frame tensorboard", "step 20/30", "mean_absolute"):
        assert expected in process.stdout
    recorded = result(folder)
    assert (recorded["plugin"], recorded["global_step"]) == ("toy", 30)
    assert recorded["metrics"].keys() == {"mean_absolute_error", "loss"}
    assert min(recorded[k] for k in ("steps_per_sec", "examples_per_sec", "duration_secs")) > 0


def test_nothing_but_our_own_lines_reaches_a_file(run_anew):
    output = run_anew(*TOY, "--max_steps", 3, "--log_every_n_steps", 0).stdout
    assert output.startswith("tf-frame ")
    for chatter in ("oneDNN", "cuda", "WARNING", "deprecated", "\r", "\033"):
        assert chatter not in output


@pytest.mark.slow
def test_verbosity_shows_what_tensorflow_says(run_anew):
    output = run_anew(*TOY, "--max_steps", 3, "--noevaluate", "--verbosity", "info").stdout
    assert re.search(r"^I\d{4} |^[-\d]+ [:.\d]+: I ", output, re.MULTILINE)


def test_the_same_command_resumes_and_then_trains_nothing(run, tmp_path):
    words = (*TOY, "--model_dir", "here", "--max_steps", 30)
    run(*words[:-1], 10)
    second = run(*words)
    assert "resuming from here/model.ckpt-10" in second.stdout
    before = result(tmp_path / "here")
    third = run(*words)
    assert "has reached step 30 of 30: nothing to train" in third.stdout
    assert "mean_absolute_error" in third.stdout
    after = result(tmp_path / "here")
    assert after["metrics"] == before["metrics"]
    assert (after["total_loss"], after["steps_per_sec"]) == (
        before["total_loss"],
        before["steps_per_sec"],
    )


@pytest.mark.slow
def test_the_written_configuration_runs_again(run, tmp_path):
    run(*TOY, "--model_dir", "here", "--max_steps", 5, "--model.l2", "0.125", "--num_clones", 2)
    written = yaml.safe_load((tmp_path / "here/config.yaml").read_text())
    assert (written["model"]["l2"], written["num_clones"]) == (0.125, 2)
    assert written["versions"].keys() == {"tf-frame", "tf-frame-toy"}
    again = run("--config", "here/config.yaml", "--max_steps", 3)
    assert again.returncode == 0, again.stdout
    assert "resuming" not in again.stdout
    (anew,) = (tmp_path / "runs").iterdir()
    assert result(anew)["global_step"] == 3
    assert yaml.safe_load((anew / "config.yaml").read_text()) == {**written, "max_steps": 3}
    assert result(tmp_path / "here")["global_step"] == 5
    third = run("--config", "here/config.yaml", "--model_dir", "there", "--max_steps", 2)
    assert result(tmp_path / "there")["global_step"] == 2, third.stdout


@pytest.mark.slow
def test_the_folder_alone_resumes_with_its_configuration(run, here):
    again = run("--model_dir", "here", "--max_steps", 5)
    assert "resuming from here/model.ckpt-3" in again.stdout
    assert result(here)["global_step"] == 5


@pytest.mark.slow
def test_a_killed_run_goes_on_from_its_last_checkpoint(run, started, tmp_path):
    words = (*TOY, "--model_dir", "here", "--max_steps", 3000, "--save_checkpoint_steps", 50)
    process = started(*words, until="step 200/3000")
    process.send_signal(signal.SIGKILL)
    process.wait(timeout=30)
    second = run(*words, "--noevaluate")
    assert second.returncode == 0, second.stdout
    resumed = second.stdout.split("resuming from here/model.ckpt-")[1].split()[0]
    assert 150 <= int(resumed) < 3000
    assert result(tmp_path / "here")["global_step"] == 3000


@pytest.mark.parametrize(
    ("signum", "code"),
    [(signal.SIGTERM, 143), pytest.param(signal.SIGINT, 130, marks=pytest.mark.slow)],
)
def test_a_signal_saves_the_step_and_says_how_to_go_on(run, started, tmp_path, signum, code):
    words = (*TOY, "--model_dir", "here", "--max_steps", 1000000)
    process = started(*words, until="step 100/")
    process.send_signal(signum)
    output = process.communicate(timeout=60)[0]
    assert process.returncode == code
    step = int(output.split("stopped and saved at step ")[1].split()[0])
    assert os.path.exists(tmp_path / f"here/model.ckpt-{step}.index")
    assert "Traceback" not in output
    assert "resume with: tf-frame run --model_dir here" in output
    resumed = run("--model_dir", "here", "--max_steps", step + 1, "--noevaluate")
    assert f"resuming from here/model.ckpt-{step}" in resumed.stdout


@pytest.mark.parametrize("until", ["watch it", "building the graph"])
def test_a_signal_before_training_ends_the_run(started, until):
    process = started(*TOY, "--model_dir", "here", "--max_steps", 1000000, until=until)
    process.send_signal(signal.SIGINT)
    output = process.communicate(timeout=60)[0]
    assert process.returncode == 130
    assert "tf-frame: SIGINT: stopped" in output
    assert "Traceback" not in output


@pytest.mark.slow
def test_a_diverging_run_saves_nothing_and_says_so(run, tmp_path):
    words = (*TOY, "--model_dir", "here", "--max_steps", 30, "--save_checkpoint_steps", 1)
    process = run(*words, "--model.nan_at_step", 5)
    assert process.returncode == 1
    assert "global step" in process.stdout and "not saved" in process.stdout
    assert "Traceback" not in process.stdout
    second = run(*words)
    assert second.returncode == 0, second.stdout
    assert "resuming from here/model.ckpt-5" in second.stdout
    assert math.isfinite(result(tmp_path / "here")["total_loss"])


@pytest.mark.slow
def test_a_checkpoint_of_another_model_is_refused_and_the_configuration_left_as_it_was(run, here):
    before = (here / "config.yaml").read_text()
    process = run(*TOY, "--model_dir", "here", "--max_steps", 6, "--optimizer", "adam")
    assert process.returncode == 1
    assert "checkpoint of another model" in process.stdout
    assert "linear/weights/Adam [3, 1]: not in the checkpoint" in process.stdout
    assert "Traceback" not in process.stdout
    assert (here / "config.yaml").read_text() == before


@pytest.mark.slow
def test_training_goes_on_when_nobody_reads_the_output_any_more(started, tmp_path):
    process = started(*TOY, "--model_dir", "here", "--max_steps", 600, until="tf-frame")
    process.stdout.close()
    assert process.wait(timeout=90) == 0
    assert result(tmp_path / "here")["global_step"] == 600


@pytest.mark.slow
def test_a_folder_that_another_run_writes_to_is_refused(run, started):
    words = (*TOY, "--model_dir", "here", "--max_steps", 1000000)
    started(*words, until="step 100/")
    second = run(*words)
    assert second.returncode == 2
    # Nothing is said about the run that does not begin.
    assert second.stdout.startswith("tf-frame: another run is writing to --model_dir here")


@pytest.mark.slow
def test_a_server_that_is_not_there_is_waited_for_until_a_signal(started):
    (port,) = free_ports(1)
    words = (*TOY, "--model_dir", "here", "--master", f"grpc://127.0.0.1:{port}")
    process = started(*words, until="waiting for the server")
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=60) == 143


def test_a_model_dir_that_cannot_be_written_or_read_back(run, tmp_path):
    (tmp_path / "file").write_text("")
    process = run(*TOY, "--model_dir", "file/below")
    assert process.returncode == 2
    assert process.stdout.startswith("tf-frame: --model_dir file/below cannot be written")
    process = run(*TOY, "--model_dir", "try[1]")
    assert process.returncode == 2
    assert "read *, ? and [ in a path as a pattern" in process.stdout


@pytest.mark.slow
@pytest.mark.usefixtures("here")
def test_an_empty_evaluation_split(run):
    words = (*TOY, "--max_steps", 3, "--model_dir", "here", "--input.num_examples", 0)
    process = run(*words)
    assert process.returncode == 0
    assert "note: nothing is evaluated: the input has no evaluation examples" in process.stdout
    process = run(*words, "--evaluate")
    assert process.returncode == 2
    assert "--evaluate needs evaluation data, and the input toy has none; add" in process.stdout
    process = run(*TOY, "--max_steps", 3, "--model_dir", "here", "--noevaluate")
    assert process.returncode == 0
    assert "note: nothing is evaluated: --noevaluate" in process.stdout


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 400 kB, where the machine lets us mount one."""
    folder = tmp_path / "small"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", folder], capture_output=True
    )
    if mounted.returncode:
        pytest.skip(f"needs the right to mount a tmpfs: {mounted.stderr.decode().strip()}")
    yield folder
    subprocess.run(["umount", folder], check=True)


def test_a_full_disk_keeps_the_last_good_checkpoint(run, small_disk):
    words = (*TOY, "--model_dir", small_disk, "--max_steps", 50, "--save_summaries_steps", 0)
    assert run(*words[:-4], "--max_steps", 10).returncode == 0
    filler = small_disk / "filler"
    with pytest.raises(OSError, match="No space left"), open(filler, "wb", buffering=0) as file:
        while True:
            file.write(b"x" * 512)
    full = run(*words)
    assert full.returncode in (1, 2)
    assert "No space left on device" in full.stdout or "is full" in full.stdout
    assert "Traceback" not in full.stdout
    assert (small_disk / "model.ckpt-10.index").exists()
    filler.unlink()
    again = run(*words)
    assert again.returncode == 0, again.stdout
    assert "resuming from " in again.stdout and "model.ckpt-10\n" in again.stdout


@pytest.mark.slow
def test_summaries_that_a_full_disk_refuses_are_one_warning(run, small_disk):
    words = (*TOY, "--model_dir", small_disk, "--max_steps", 15000, "--save_summaries_steps", 1)
    # The only checkpoint is that of the last step, however long the steps take.
    words += ("--save_checkpoint_steps", 20000, "--log_every_n_steps", 5000, "--noevaluate")
    process = run(*words)
    assert process.returncode == 1
    warning = f"warning: summaries cannot be written to {small_disk}: "
    assert process.stdout.count(warning) == 1
    # Training went on to the last step, whose checkpoint has no room.
    assert process.stdout.index(warning) < process.stdout.index("step 15000/15000")
    assert process.stdout.count("tf-frame: the checkpoint of global step 15000 could not be") == 1


@pytest.mark.slow
def test_a_disk_that_fills_up_while_training_is_one_clear_error(run, small_disk):
    words = (*TOY, "--model_dir", small_disk, "--max_steps", 100000, "--max_to_keep", 1)
    words += ("--save_checkpoint_steps", 500, "--save_summaries_steps", 1)
    process = run(*words, "--log_every_n_steps", 1000)
    assert process.returncode == 1
    assert process.stdout.count("tf-frame: ") == 1
    assert "No space left on device" in process.stdout or "is full" in process.stdout
    assert "Traceback" not in process.stdout


@pytest.mark.slow
@pytest.mark.usefixtures("here")
def test_a_resumed_run_says_which_options_are_others(run):
    process = run(*TOY, "--max_steps", 4, "--model_dir", "here", "--learning_rate", "0.02")
    assert process.returncode == 0
    assert (
        "note: options differ from the run that is resumed:\n"
        "  max_steps 4, was 3\n"
        "  learning_rate 0.02, was 0.01\n"
    ) in process.stdout
    process = run(*TOY, "--max_steps", 4, "--model_dir", "here", "--learning_rate", "0.02")
    assert "options differ" not in process.stdout


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("named", [(), ("--model_dir", "here")])
def test_of_ten_starts_at_once_none_harms_another(settings, tmp_path, named):
    words = command([*TOY, "--max_steps", 2, *named])
    processes = [forked.Popen(words, **settings) for _ in range(10)]
    outputs = [process.communicate(timeout=200)[0] for process in processes]
    done = [process.returncode == 0 for process in processes]
    refused = ["another run is writing to --model_dir here" in output for output in outputs]
    wrong = [text for text, a, b in zip(outputs, done, refused, strict=True) if a == b]
    assert not wrong
    folders = [tmp_path / "here"] if named else list((tmp_path / "runs").iterdir())
    assert [result(folder)["global_step"] for folder in folders] == [2] * len(folders)
    assert any(done) if named else (all(done) and len(folders) == 10)
