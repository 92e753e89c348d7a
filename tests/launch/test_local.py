"""Jobs of small fake tasks as real processes: how they start, die, come back and end."""

import json
import os
import signal
import time

import pytest

from fake_tasks import LIMITS, OPTIONS, SECS, fake_job, launcher, pids, program, wait_for
from tf_frame.errors import ConfigError, TfFrameError
from tf_frame.launch import local
from tf_frame.launch.job import Job
from tf_frame.launch.watchdog import is_there
from tf_frame.runs.setup.folder_claim import launching

pytestmark = [pytest.mark.process, pytest.mark.timeout(120)]


@pytest.fixture
def folder(tmp_path):
    """A folder for the notes of the tasks; no process may be left at the end."""
    notes = tmp_path / "notes"
    notes.mkdir()
    yield notes
    wait_for(lambda: not [pid for pid in pids(notes) if is_there(pid)])


@pytest.fixture
def launch(folder, tmp_path, capsys):
    """Runs a job in this process; returns the exit code and what was shown."""

    def launch(code, *, limits=None, options=None, **job):
        exit_code = local.main(
            fake_job(tmp_path, **job),
            OPTIONS | (options or {}),
            program=program(folder, code),
            limits=LIMITS | (limits or {}),
        )
        return exit_code, capsys.readouterr().out

    return launch


def test_all_end_well(launch, folder, tmp_path):
    code, out = launch(
        "print('hello'); print('I am', name); note(name, os.environ['TF_CONFIG'])",
        num_ps=1,
        num_workers=3,
        evaluator=True,
    )
    assert code == 0
    names = ["ps-0", "chief-0", "worker-0", "worker-1", "evaluator-0"]
    assert out.startswith(f"starting {', '.join(names)}; logs in {tmp_path}/run/logs\n")
    assert out.count("hello") == 1
    configs = [json.loads((folder / name).read_text()) for name in names]
    addresses = configs[0]["cluster"]
    assert all(config["cluster"] == addresses for config in configs)
    counts = {kind: len(hosts) for kind, hosts in addresses.items()}
    assert counts == {"ps": 1, "chief": 1, "worker": 2}
    hosts = [host for each in addresses.values() for host in each]
    assert len(set(hosts)) == 4
    assert all(host.startswith("127.0.0.1:") for host in hosts)
    for name in names:
        assert f"[{name}] I am {name}\n" in out
        assert (tmp_path / f"run/logs/{name}.log").read_text() == f"hello\nI am {name}\n"
        assert f"\n  {name} " in out
    assert out.count("ended well") == 5
    assert out.splitlines()[-1].startswith("done in ")


def test_an_error_of_several_tasks_is_shown_once_and_ends_the_job(launch):
    code, out = launch(
        "end_at_sigterm(143)\n"
        "if name == 'ps-0': note('up'); time.sleep(99)\n"
        "wait('up'); print('tf-frame: no such data', file=sys.stderr); sys.exit(2)",
        num_ps=1,
        num_workers=3,
    )
    assert code == 1
    assert out.count("no such data") == 1
    assert "ended with exit code 2; stopping the other tasks\n" in out
    assert "  ps-0      stopped " in out
    last = out.splitlines()[-1]
    assert last.startswith("failed: ") and last.endswith(" ended with exit code 2")
    assert f"logs/{last.split()[1]}.log" in out


@pytest.mark.slow
def test_a_server_does_not_wait_for_the_chief_of_a_failed_job(launch):
    started = time.monotonic()
    code, out = launch(
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "if name == 'ps-0': note('up'); time.sleep(99)\n"
        "wait('up'); sys.exit(2)",
        num_ps=1,
        limits={"stop_secs": 60.0},
    )
    assert code == 1 and "ps-0 did not stop" not in out
    assert time.monotonic() - started < 30
    (row,) = [line for line in out.splitlines() if line.split()[:1] == ["ps-0"]]
    assert row.split()[1] == "stopped" and "log:" not in row


def test_the_last_lines_of_a_failure_are_shown_again_if_they_are_out_of_sight(launch):
    code, out = launch(
        "if name == 'worker-0':\n"
        "  wait('up'); [print('line', i) for i in range(40)]; sys.exit(2)\n"
        "def last_words(): [print('saving', i) for i in range(40)]; sys.stdout.flush()\n"
        "end_at_sigterm(143, last_words); note('up'); time.sleep(99)",
        num_workers=2,
    )
    assert code == 1
    end = out.partition("failed: worker-0 ended with exit code 2; its last lines:\n")[2]
    assert end.split("\n") == [f"  line {i}" for i in range(25, 40)] + [""]


@pytest.mark.parametrize("death", ["os.kill(os.getpid(), signal.SIGKILL)", "os._exit(137)"])
def test_a_task_that_dies_once_is_started_again_with_the_same_place(launch, folder, death):
    code, out = launch(
        "note(f'{name}.{start}', os.environ['TF_CONFIG'])\n"
        f"if name == 'worker-0' and start == 1: {death}\n"
        "wait('worker-0.2')",
        num_workers=2,
    )
    assert code == 0
    assert "; starting it again (restart 1 of 3)\n" in out
    assert "  worker-0  ended well  1 restart  " in out
    assert (folder / "worker-0.1").read_text() == (folder / "worker-0.2").read_text()
    assert not (folder / "chief-0.2").exists()


def test_a_task_that_dies_too_often_ends_the_job(launch, folder):
    code, out = launch(
        "if name == 'worker-0': os.kill(os.getpid(), signal.SIGSEGV)\nend_at_sigterm(0); wait('-')",
        num_workers=2,
        options={"max_restarts": 1},
    )
    assert code == 1
    assert "failed: worker-0 was killed by SIGSEGV, after 1 of at most 1 restarts" in out
    assert (folder / "worker-0.starts").read_text() == "xx"


@pytest.mark.slow
def test_a_task_that_lost_the_others_comes_back_without_counting(launch):
    code, out = launch(
        "if name == 'worker-0' and start < 2: sys.exit(138)\n"
        "note(f'{name}.{start}'); wait('worker-0.2')",
        num_workers=2,
        options={"max_restarts": 0},
    )
    assert code == 0
    assert out.count("worker-0 lost the other tasks; starting it again in 2 s\n") == 1


def test_after_the_end_of_the_chief_nobody_comes_back_to_it(launch):
    code, out = launch(
        "if name == 'worker-0': wait('end'); time.sleep(0.2); sys.exit(138)\nnote('end')",
        num_workers=2,
    )
    assert code == 0
    assert "starting it again" not in out


@pytest.mark.slow
def test_tasks_that_do_not_end_after_the_chief(launch):
    code, out = launch(
        "if name == 'chief-0': wait('up')\n"
        "else: signal.signal(signal.SIGTERM, signal.SIG_IGN); note('up'); time.sleep(99)",
        num_workers=2,
        limits={"end_secs": 0.3, "stop_secs": 0.3},
    )
    assert code == 1
    assert "failed: worker-0 did not end within 0.3 s after the chief" in out
    assert "worker-0 did not stop in time; killing" in out
    assert "worker-0  was killed by SIGKILL" in out


@pytest.mark.slow
def test_the_evaluator_may_evaluate_the_last_checkpoint(launch, tmp_path):
    status = {"task": "evaluator-0", "state": "evaluating", "time": 0, "pid": 1, "host": "h"}
    (tmp_path / "run/tasks").mkdir(parents=True)
    path = tmp_path / "run/tasks/evaluator-0.json"
    code, _ = launch(
        "if name == 'chief-0': wait('up'); sys.exit()\n"
        f"path = pathlib.Path({str(path)!r}); path.write_text({json.dumps(status)!r})\n"
        "note('up'); time.sleep(1); path.unlink()",
        evaluator=True,
        limits={"end_secs": 0.3},
    )
    assert code == 0


def test_a_caller_that_ignores_the_ends_of_its_children(launch):
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        code, out = launch("sys.exit(2)")
    finally:
        signal.signal(signal.SIGCHLD, before)
    assert code == 1
    assert "chief-0 ended with exit code 2" in out


SAVING = "end_at_sigterm(143, lambda: (note(f'{name}.saved'))); note(f'{name}.up'); time.sleep(99)"
DEAF = "signal.signal(signal.SIGTERM, signal.SIG_IGN); note(f'{name}.up'); time.sleep(99)"
CHILD = (
    "child = subprocess.Popen(['sleep', '99'])\n"
    "with (folder / 'pids').open('a') as file: file.write(f'{child.pid}\\n')\n"
)


def test_processes_of_a_task_end_with_it(launch, folder):
    assert launch(CHILD)[0] == 0
    assert len(pids(folder)) == 2  # The fixture looks whether they are gone.


@pytest.fixture
def stop(folder, tmp_path):
    """Signals a launcher in a process of its own when all tasks are up; returns code and output."""

    def stop(code, signum=signal.SIGTERM, *, send=os.kill, limits=None, **job):
        job = fake_job(tmp_path, **job)
        process = launcher(job, program(folder, code), limits=limits)
        wait_for(lambda: all((folder / f"{task}.up").exists() for task in job.tasks))
        send(process.pid, signum)
        out, _ = process.communicate(timeout=SECS)
        return process.returncode, out

    return stop


@pytest.mark.parametrize(("signum", "expected"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_signal_is_passed_on_and_everything_stops(stop, tmp_path, folder, signum, expected):
    code, out = stop(SAVING, signum, num_ps=1, num_workers=2)
    assert code == expected
    assert all((folder / f"{name}.saved").exists() for name in ("ps-0", "chief-0", "worker-0"))
    assert out.count("  stopped  ") == 3
    same = f"the same command with --model_dir {tmp_path / 'run'} goes on"
    assert out.splitlines()[-1] == f"stopped by {signum.name}; {same}"


def test_servers_that_wait_for_a_chief_that_has_gone_are_ended(stop):
    begin = time.monotonic()
    code, out = stop(
        f"if name == 'ps-0':\n    {DEAF}\n{SAVING}", num_ps=1, limits={"ps_leave_secs": 0.1}
    )
    assert (code, out.count("  stopped  ")) == (143, 2)
    assert time.monotonic() - begin < SECS / 2


def test_ctrl_c_reaches_the_tasks_by_the_launcher_only(stop, folder):
    code = f"signal.signal(signal.SIGINT, signal.SIG_DFL)\n{SAVING}"
    assert stop(code, signal.SIGINT, send=os.killpg)[0] == 130
    assert (folder / "chief-0.saved").exists()


def test_a_second_signal_kills(stop, folder):
    def send(pid, signum):
        os.kill(pid, signum)
        wait_for((folder / "asked").exists)
        os.kill(pid, signum)

    deaf = "signal.signal(signal.SIGTERM, lambda *_: note('asked')); note(f'{name}.up')\n"
    code, out = stop(f"{deaf}while True: time.sleep(9)", send=send)
    assert code == 143
    assert "killing chief-0" in out and "was killed by SIGKILL" in out


def test_tasks_that_do_not_save_in_time_are_killed(stop):
    code, out = stop(DEAF, limits={"save_secs": 0.2})
    assert code == 143
    assert "chief-0 did not stop in time; killing" in out


def test_a_launcher_that_is_killed_leaves_nothing(stop, folder):
    stop(CHILD + SAVING, signal.SIGKILL, num_workers=2)  # Nothing holds its output.
    wait_for(lambda: not [pid for pid in pids(folder) if is_there(pid)], secs=20)
    assert (folder / "chief-0.saved").exists()
    assert len(pids(folder)) == 4


def test_gpus_and_cores_are_seen_by_the_tasks(launch, monkeypatch):
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    _, out = launch(
        "print(name, os.environ['CUDA_VISIBLE_DEVICES'], sorted(os.sched_getaffinity(0)))",
        num_ps=1,
        num_workers=2,
        evaluator=True,
        options={"gpus_per_worker": 2, "cpus_per_task": 1},
    )
    there = sorted(os.sched_getaffinity(0))
    gpus = {"ps-0": "-1", "chief-0": "0,1", "worker-0": "2,3", "evaluator-0": "-1"}
    for number, (name, seen) in enumerate(gpus.items()):
        assert f"{name} {seen} [{there[number % len(there)]}]\n" in out


def test_one_line_of_progress_for_the_job(launch, tmp_path):
    status = {"state": "training", "time": 0.0, "pid": 1, "host": "h"}
    rates = {"step": 40, "max_steps": 100, "steps_per_sec": 4.0, "runs_per_sec": 2.0}
    (tmp_path / "run/tasks").mkdir(parents=True)
    write = f"""
made = pathlib.Path({str(tmp_path)!r}, "run/tasks", name + ".json")
made.write_text(json.dumps({{"task": name, **{status | rates!r}}}))
print('step 40/100  loss 0.5000  4.00 steps/s  128.0 examples/s  0:15 left')
"""
    code, out = launch(write, num_workers=2)
    assert code == 0
    assert "examples/s" not in out
    line = "step 40/100  loss 0.5000  4.00 steps/s  0:15 left  (chief-0 2.00/s, worker-0 2.00/s)\n"
    assert out.count(line) == 1
    assert "examples/s" in (tmp_path / "run/logs/worker-0.log").read_text()


def test_the_log_goes_on_after_a_restart(launch, tmp_path):
    launch("print('start', start, flush=True)\nif start == 1: os._exit(200)")
    first, between, second = (tmp_path / "run/logs/chief-0.log").read_text().splitlines()
    assert (first, second) == ("start 1", "start 2")
    assert between.endswith("started again ==")


def test_a_task_that_is_stopped_for_long_is_killed_and_started_again(launch):
    stop = """
if name == "chief-0":
    wait("second start")
elif start == 1:
    os.kill(os.getpid(), signal.SIGSTOP)
else:
    note("second start")
"""
    code, out = launch(stop, num_workers=2, limits={"stopped_secs": 0.3})
    assert code == 0
    assert out.count("worker-0 is stopped (SIGSTOP) for 0.3 s (--cluster_timeout_secs)") == 1
    assert "worker-0 was killed by SIGKILL; starting it again (restart 1 of 3)" in out


def test_a_task_that_is_stopped_for_a_moment_goes_on(launch):
    pause = """
child = os.fork()
if child:
    os.kill(os.getpid(), signal.SIGSTOP)
else:
    time.sleep(0.2)
    os.kill(os.getppid(), signal.SIGCONT)
"""
    code, out = launch(pause)
    assert code == 0
    assert "SIGSTOP" not in out


def test_jobs_that_choose_one_folder_have_folders_of_their_own(folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = ["run", "--model_dir", "runs/toy-1"]
    job = Job(words=words, model_dir="runs/toy-1", is_default_dir=True)
    noted = program(folder, "note(sys.argv[-1].replace('/', '_'))")
    for _ in range(2):
        assert local.main(job, OPTIONS, program=noted, limits=LIMITS) == 0
    assert sorted(os.listdir("runs")) == ["toy-1", "toy-1-2"]
    assert {"runs_toy-1", "runs_toy-1-2"} <= set(os.listdir(folder))


def test_a_folder_in_which_another_launcher_runs_its_job(folder, tmp_path):
    job = fake_job(tmp_path)
    os.mkdir(job.model_dir)
    with launching(job.model_dir), pytest.raises(ConfigError, match="another tf-frame launch"):
        local.main(job, OPTIONS)
    assert os.listdir(folder) == []


def test_a_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "run").write_text("a file")
    with pytest.raises(ConfigError, match="cannot be written"):
        local.main(fake_job(tmp_path), OPTIONS, program=["no-such-program"])


def test_a_program_that_is_not_there(tmp_path):
    with pytest.raises(TfFrameError, match="chief-0 cannot be started: No such file"):
        local.main(fake_job(tmp_path), OPTIONS, program=["/no/such/program"])
