"""Checks that no test of a cluster leaves a process behind; the end of undisturbed jobs."""

import functools
import os
import time
from pathlib import Path

import pytest

import forked
from job import LAST_STEP, joint_job

# What has been killed may take a moment to go.
_GONE_SECS = 5.0


@pytest.fixture(autouse=True)
def no_process_is_left(request):
    """Looks for new children of a test, and for processes that work in its folder.

    Looks at the tests that start processes only, for reading all of `/proc` takes longer than most
    other tests.
    """
    if request.node.get_closest_marker("process") is None:
        yield
        return
    tmp_path = request.getfixturevalue("tmp_path")
    forked._server()
    before = set(_children())
    yield
    deadline = time.monotonic() + _GONE_SECS
    while left := {*(set(_children()) - before), *_working_in(str(tmp_path))}:
        if time.monotonic() > deadline:
            told = {pid: _command(pid) for pid in left}
            pytest.fail(f"processes are left: {told}")
        time.sleep(0.05)


@pytest.fixture(scope="session")
def end_of(tmp_path_factory):
    """Returns the values that the last checkpoint of an undisturbed job of `JOINT_JOBS` has."""

    @functools.cache
    def end_of(kind):
        with joint_job(tmp_path_factory.mktemp(kind), kind) as job:
            job.start()
            job.ended_well()
            return job.variables(LAST_STEP)

    return end_of


def _children():
    for path in Path("/proc/self/task").glob("*/children"):
        yield from map(int, path.read_text().split())


def _working_in(folder):
    """Processes whose working folder or command line has the folder, the test's own left out."""
    for path in Path("/proc").iterdir():
        if path.name.isdigit() and int(path.name) != os.getpid() and _uses(path, folder):
            yield int(path.name)


def _uses(path, folder):
    try:
        where = os.readlink(path / "cwd")
    except OSError:
        return False
    return where.startswith(folder) or folder in _command(int(path.name))


def _command(pid):
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""
