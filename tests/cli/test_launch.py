"""`tf-frame launch`: its words, and the job that it hands to the place of the tasks."""

import fcntl
import os
import signal
import subprocess
import sys
import types

import pytest

from fake_tasks import wait_for
from tf_frame.cli.launch import make_job
from tf_frame.config.option import Option
from tf_frame.launch import job as job_module, local

RUN = ["run", "--plugin", "deeplab"]
JOB = {"num_ps": 1, "num_workers": 2, "evaluator": False}


@pytest.fixture
def place(monkeypatch):
    """The module of another place, `--on moon`; collects its calls."""
    module = types.ModuleType("moon")
    module.calls = []
    module.OPTIONS = (
        Option("craters", int, 4, "craters"),
        Option("num_ps", int, 7, "its own default"),
    )
    module.main = lambda job, values: module.calls.append((job, values)) or 5
    monkeypatch.setitem(sys.modules, "moon", module)
    on = Option("on", str, "local", "where", choices=("local", "moon"))
    monkeypatch.setitem(job_module.PLACES, "moon", "moon")
    for name in ("tf_frame.cli.launch", "tf_frame.launch.job"):
        monkeypatch.setattr(f"{name}.ON", on)
    monkeypatch.setattr("tf_frame.cli.launch.OPTIONS", (*job_module.OPTIONS[:-1], on))
    return module


def test_options_of_another_place(run, place):
    words = [*RUN, "--model_dir", "x"]
    code, _, _ = run("--num_workers", "2", "--on", "moon", "--craters", "3", "--", *words)
    assert code == 5
    ((job, values),) = place.calls
    assert (job.words, job.num_workers, job.num_ps) == (words, 2, 7)
    assert values["craters"] == 3
    assert "max_restarts" not in values


def test_a_place_gets_no_options_of_another(run, place):
    code, _, err = run("--on", "moon", "--max_restarts", "1", "--", *RUN)
    assert (code, place.calls) == (2, [])
    assert err.startswith("tf-frame: unknown option --max_restarts")
    assert run("--craters", "1", "--", *RUN)[0] == 2


def test_help_of_another_place_and_without_words(run, place):
    code, out, _ = run("--on", "moon", "--help")
    assert code == 0
    assert "Options with --on moon:\n  --craters INT" in out
    assert "--max_restarts" not in out
    assert "--max_restarts" in run("--help")[1]
    code, out, _ = run()
    assert code == 2
    assert out.startswith("usage: tf-frame launch [OPTIONS] -- run")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--num_ps", "1"], "say after -- what to train"),
        (RUN, "say after -- what to train"),
        (["--num_ps", "1", "--"], "say after -- what to train"),
        (["--num_p", "1", "--", *RUN], "did you mean --num_ps?"),
        (["--num_workers", "0", "--", *RUN], "--num_workers: 0 is out of range"),
        (["--num_workers", "2..4", "--", *RUN], "needs --batch_shards of the run"),
        (
            ["--num_workers", "2..4", "--on", "env", "--", *RUN, "--batch_shards", "4"],
            "--on env has one TF_CONFIG for each task; give one number",
        ),
        (
            ["--num_workers", "5", "--", *RUN, "--batch_shards", "4"],
            "--batch_shards 4 are too few for 5 workers",
        ),
        (
            ["--num_ps", "1", "--num_workers", "2", "--", *RUN, "--batch_shards", "4"],
            "with parameter servers needs --sync_replicas",
        ),
        (["--", "evaluate", "x"], "after -- comes run, not 'evaluate'"),
        (["--", "--plugin", "deeplab"], "after -- comes run, not '--plugin'"),
        (["--", "run"], "--plugin NAME"),
        (["--", *RUN, "--help_all"], "ask tf-frame run --help_all"),
        (["--", *RUN, "--dry_run"], "--dry_run is for one process"),
        (["--", *RUN, "--print_config"], "--print_config is for one process"),
        (["--", *RUN, "--show_placement"], "--show_placement is for one process"),
        (["--", *RUN, "--show_model"], "--show_model is for one process"),
        (["--", *RUN, "--mode", "export"], "use tf-frame export"),
        (["--", *RUN, "--task", "1"], "leave --task out"),
        (["--", *RUN, "--cluster_from", "none"], "leave --cluster_from out"),
        (["--", *RUN, "--max_step", "5"], "did you mean --max_steps?"),
        (["--", *RUN, "--max_steps", "x"], "not a whole number"),
        (["--", *RUN, "--model_dir", "gs://a/b"], "need a folder of this machine"),
        (["--", *RUN, "--model_dir", "/proc/x"], "/proc/x cannot be written"),
        (["--", *RUN, "--input.data_dir", "/no/such"], "/no/such"),
    ],
)
def test_wrong_words_start_nothing(run, monkeypatch, words, message):
    monkeypatch.setattr(local, "main", lambda *_: pytest.fail("it was started"))
    code, out, err = run(*words)
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1


def test_a_folder_to_which_another_run_writes(run, tmp_path):
    with open(tmp_path / "run.lock", "a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        code, _, err = run("--", *RUN, "--model_dir", str(tmp_path))
    assert code == 2
    assert "another run is writing" in err


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.timeout(120)
def test_a_run_of_one_process(tmp_path, toy_environment):
    """From the command line to a task that is a real `tf-frame run`."""
    folder = tmp_path / "run"
    command = [sys.executable, "-m", "tf_frame", "launch", "--", "run", "--plugin", "toy"]
    done = subprocess.run(
        [*command, "--max_steps", "3", "--model_dir", str(folder)],
        env=toy_environment,
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "[chief-0] tf-frame 0." in done.stdout
    assert "chief-0  ended well" in done.stdout
    assert (folder / "result.json").exists()
    assert "step 3/3" in (folder / "logs/chief-0.log").read_text()
    assert "[chief-0] step 3/3" not in done.stdout


@pytest.mark.process
@pytest.mark.timeout(120)
def test_a_terminal_has_colours_and_progress_in_place(tmp_path):
    import pty

    folder = tmp_path / "run"
    primary, secondary = pty.openpty()
    program = (
        "import sys\nfrom tf_frame.launch.job import Job\nfrom tf_frame.launch.local import main\n"
        "code = \"import time; print('hello', flush=True); \"\\\n"
        "    \"print('step 1/2  loss 0.5000', flush=True); time.sleep(99)\"\n"
        f"job = Job(words=[], model_dir={str(folder)!r})\n"
        "values = {'max_restarts': 0, 'gpus_per_worker': None, 'cpus_per_task': None}\n"
        "sys.exit(main(job, values, program=[sys.executable, '-c', code]))\n"
    )
    environment = {k: v for k, v in os.environ.items() if k != "NO_COLOR"} | {"TERM": "xterm"}
    process = subprocess.Popen(
        [sys.executable, "-c", program], stdout=secondary, stderr=secondary, env=environment
    )
    os.close(secondary)
    output = b""

    def sees(part):
        nonlocal output
        output += os.read(primary, 4096)
        return part in output

    wait_for(lambda: sees(b"\r\x1b[Kstep 1/2  loss 0.5000"))
    os.kill(process.pid, signal.SIGTERM)
    wait_for(lambda: sees(b"stopped by SIGTERM"))
    assert process.wait(60) == 143
    os.close(primary)
    assert b"\x1b[36m[chief-0]\x1b[0m hello" in output


def test_jobs_with_a_folder_with_a_new_folder_and_with_an_evaluator():
    words = [*RUN, "--model_dir", "somewhere", "--max_steps", "5"]
    job, setup = make_job(words, JOB)
    assert job.words == words
    assert (job.model_dir, job.num_ps, job.num_workers) == ("somewhere", 1, 2)
    assert setup.config.max_steps == 5
    job, setup = make_job(RUN, JOB)
    assert job.words == [*RUN, "--model_dir", setup.model_dir]
    assert setup.model_dir.startswith("runs/deeplab-")
    job, _ = make_job(RUN, {**JOB, "evaluator": True})
    assert job.evaluator
    assert job.words[-1] == "--dedicated_evaluator"
