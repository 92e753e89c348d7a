"""The program that ends what a killed launcher has left."""

import subprocess
import sys

import pytest

from fake_tasks import wait_for
from tf_frame.launch import watchdog

pytestmark = [pytest.mark.process, pytest.mark.timeout(60)]
DEAF = (
    "import signal, time; signal.signal(15, signal.SIG_IGN); print(1, flush=True); time.sleep(99)"
)


def start(*args):
    return subprocess.Popen(
        [sys.executable, "-I", "-S", *args],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def test_groups_that_do_not_stop_are_killed_and_ended_ones_left_alone():
    tasks = [start("-c", DEAF) for _ in range(3)]
    try:
        for task in tasks:
            assert task.stdout.readline() == "1\n"
        deaf, ended, cut = tasks
        dog = start(watchdog.__file__, "0.2")
        # The launcher died while it wrote its last line.
        dog.communicate(f"+{deaf.pid}\n+{ended.pid}\n-{ended.pid}\n+{cut.pid}", timeout=30)
        assert deaf.wait(30) == -9
        assert ended.poll() is None
        assert cut.poll() is None
    finally:
        for task in tasks:
            task.kill()
            task.communicate()


def test_processes_that_are_there_and_not():
    task = start("-c", "pass")
    # Before it is waited for: a zombie has ended.
    wait_for(lambda: not watchdog.is_there(task.pid))
    task.communicate()
    assert not watchdog.is_there(task.pid)
