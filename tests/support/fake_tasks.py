"""Small programs instead of the tasks of a job, for tests of the launcher.

    job = fake_job(folder, "wait('worker-0 is up')", num_workers=2)
    process = launcher(job)

A program is a few lines of Python that every task runs; `name` says which it is.
"""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
import time
from pathlib import Path

from tf_frame.launch.job import Job

OPTIONS = {"max_restarts": 3, "gpus_per_worker": None, "cpus_per_task": None}
# Shorter than a user's limits, and long enough for a busy machine.
LIMITS = {"poll_secs": 0.02, "status_secs": 0.02}
SECS = 60

PRELUDE = """
import json, os, pathlib, signal, subprocess, sys, time
task = json.loads(os.environ["TF_CONFIG"])["task"]
name = f"{task['type']}-{task['index']}"
folder = pathlib.Path(sys.argv[1])

def start_number():
    starts = folder / f"{name}.starts"
    with starts.open("a") as file:
        file.write("x")
    return len(starts.read_text())

def note(what, text=""):
    made = folder / f".{what}.{os.getpid()}"
    made.write_text(text)
    made.rename(folder / what)

def wait(what, secs=60):
    end = time.monotonic() + secs
    while not (folder / what).exists():
        assert time.monotonic() < end, f"{name} waits for {what}"
        time.sleep(0.01)

def end_at_sigterm(code, first=lambda: None):
    def end(*_):
        first()
        os._exit(code)
    signal.signal(signal.SIGTERM, end)

start = start_number()
with (folder / "pids").open("a") as file:
    file.write(f"{os.getpid()}\\n")
"""

LAUNCHER = """
import json, sys
from tf_frame.launch.job import Job
from tf_frame.launch.local import main
job, options, program, limits = json.loads(sys.argv[1])
code = main(Job(**job), options, program=program, limits=limits)
assert "tensorflow" not in sys.modules
sys.exit(code)
"""


def program(folder: Path, code: str) -> list[str]:
    """Returns the command that runs the code of a task."""
    folder.mkdir(exist_ok=True)
    return [sys.executable, "-I", "-S", "-c", PRELUDE + code, str(folder)]


def fake_job(folder: Path, **job) -> Job:
    """Returns a job with a command that the programs do not read."""
    return Job(words=("run",), model_dir=str(folder / "run"), **job)


def launcher(job: Job, words: list[str], *, limits=None, env=None, **options) -> subprocess.Popen:
    """Starts the launcher of a job as a process of its own."""
    argument = [dataclasses.asdict(job), OPTIONS | options, words, LIMITS | (limits or {})]
    return subprocess.Popen(
        [sys.executable, "-c", LAUNCHER, json.dumps(argument)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, **(env or {})},
        start_new_session=True,
    )


def wait_for(condition, secs=SECS):
    """Waits until a condition holds."""
    end = time.monotonic() + secs
    while not condition():
        assert time.monotonic() < end, f"not within {secs} s: {condition}"
        time.sleep(0.01)


def pids(folder: Path) -> list[int]:
    """Returns the ids of all processes of tasks, also of ended processes."""
    path = folder / "pids"
    return [int(line) for line in path.read_text().split()] if path.exists() else []
