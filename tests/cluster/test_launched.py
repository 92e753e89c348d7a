"""Jobs that `tf-frame launch` starts, as a user does: their failures, signals and exit codes."""

import concurrent.futures
import json
import os
import signal
import subprocess
import time
import types

import pytest

import forked
from job import JOINT_JOBS, JOINT_WORDS, LAST_STEP, WORDS, assert_same, job_environment
from slow_cases import slow
from tf_frame.cli.main import main
from tf_frame.cluster.status import read_statuses
from tf_frame.testing.local_job import checkpoint_values, newest_step, wait_for

pytestmark = [pytest.mark.process, pytest.mark.timeout(150)]

LIMIT_SECS = 60


@pytest.fixture
def launch(tmp_path, monkeypatch, capfd):
    """Runs the launcher in this process, with tasks of `forked`; returns exit code and output."""
    environment = job_environment(tmp_path)
    monkeypatch.setenv("PYTHONPATH", environment["PYTHONPATH"])
    for folder in environment["PYTHONPATH"].split(os.pathsep):
        monkeypatch.syspath_prepend(folder)
    how = types.SimpleNamespace(Popen=forked.Popen, DEVNULL=subprocess.DEVNULL)
    monkeypatch.setattr("tf_frame.launch.process.subprocess", how)

    def launch(options, words, meanwhile=lambda: None):
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            ended = pool.submit(meanwhile)
            code = main(["launch", *options, "--", *words, "--model_dir", str(tmp_path / "run")])
        output = "".join(capfd.readouterr())
        assert ended.exception() is None, output
        return code, output

    return launch


def read_pid(model_dir, name):
    return next(each.pid for each in read_statuses(str(model_dir)) if each.task == name)


def at_step(model_dir, step, act):
    """A function that acts when there is a checkpoint of a step."""

    def meanwhile():
        wait_for(lambda: newest_step(model_dir) >= step, f"checkpoint {step}")
        act()

    return meanwhile


def read_log(folder, task):
    return (folder / "run/logs" / f"{task}.log").read_text()


@pytest.mark.slow
def test_the_command_starts_a_job_which_ends_by_itself(launch, tmp_path):
    options = ("--num_ps", "1", "--num_workers", "2", "--evaluator")
    code, said = launch(options, (*WORDS, "--max_steps", "40"))
    assert code == 0, said
    assert f"results in {tmp_path}/run" in said
    names = {"ps-0", "chief-0", "worker-0", "evaluator-0"}
    statuses = {each.task: each.state for each in read_statuses(str(tmp_path / "run"))}
    assert statuses == dict.fromkeys(names, "ended")
    assert names <= {path.stem for path in (tmp_path / "run/logs").glob("*.log")}
    evaluated = {name: "evaluation at step" in read_log(tmp_path, name) for name in names}
    assert evaluated == {name: name == "evaluator-0" for name in names}
    result = json.loads((tmp_path / "run/result.json").read_text())
    assert result["metrics_step"] == result["global_step"] >= 40


@pytest.mark.parametrize("task", [slow("chief-0"), "worker-0"])
def test_an_error_of_a_plugin_is_shown_once_and_ends_the_job(launch, task):
    begin, options = time.monotonic(), ("--num_ps", "1", "--num_workers", "2")
    code, said = launch(options, (*WORDS, "--max_steps", "1000", "--model.fails_in", task))
    assert code == 1
    assert time.monotonic() - begin < LIMIT_SECS
    assert said.count("KeyError: 'a defect of the plugin'") == 1, said
    assert f"{task} ended with exit code 2" in said


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["sync", slow("all-reduce")])
def test_sigterm_to_the_launcher_saves_and_stops_all(launch, tmp_path, kind, end_of):
    num_ps, more = JOINT_JOBS[kind]
    options = ("--num_ps", str(num_ps), "--num_workers", "2")
    words, folder = (*JOINT_WORDS, *more), tmp_path / "run"
    expected = end_of(kind)
    stop = at_step(folder, 10, lambda: os.kill(os.getpid(), signal.SIGTERM))
    code, said = launch(options, words, stop)
    assert code == 143, said
    assert f"stopped by SIGTERM; the same command with --model_dir {folder} goes on" in said
    step = newest_step(folder)
    assert 10 < step < LAST_STEP
    assert f"stopped and saved at step {step} of {LAST_STEP}" in said
    code, said = launch(options, words)
    assert code == 0, said
    assert_same(checkpoint_values(folder / f"model.ckpt-{LAST_STEP}"), expected)


@pytest.mark.slow
@pytest.mark.parametrize("kind", JOINT_JOBS)
def test_a_worker_that_is_stopped_for_long_loses_nothing(launch, tmp_path, kind, end_of):
    """Without an end of its stop the others would wait for it for ever."""
    num_ps, more = JOINT_JOBS[kind]
    folder = tmp_path / "run"
    stop = at_step(folder, 20, lambda: os.kill(read_pid(folder, "worker-0"), signal.SIGSTOP))
    words = (*JOINT_WORDS, *more, "--cluster_timeout_secs", "4")
    options = ("--num_ps", str(num_ps), "--num_workers", "2")
    code, said = launch(options, words, stop)
    assert code == 0, said
    assert said.count("worker-0 is stopped (SIGSTOP) for 4 s (--cluster_timeout_secs)") == 1
    assert "worker-0 was killed by SIGKILL; starting it again" in said
    assert newest_step(folder) == LAST_STEP
    if not num_ps:  # With servers it goes on at an input position that is some steps behind.
        assert_same(checkpoint_values(folder / f"model.ckpt-{LAST_STEP}"), end_of(kind))


@pytest.mark.slow
@pytest.mark.parametrize("victim", ["chief-0", "worker-0"])
def test_without_servers_the_job_survives_a_worker_that_is_killed(launch, tmp_path, victim, end_of):
    folder, expected = tmp_path / "run", end_of("all-reduce")
    kill = at_step(folder, 20, lambda: os.kill(read_pid(folder, victim), signal.SIGKILL))
    begin = time.monotonic()
    code, said = launch(("--num_workers", "2"), JOINT_WORDS, kill)
    assert code == 0, said
    assert time.monotonic() - begin < LIMIT_SECS
    assert f"{victim} was killed by SIGKILL; starting it again" in said
    assert_same(checkpoint_values(folder / f"model.ckpt-{LAST_STEP}"), expected)
