import os
import subprocess
import sys
import threading
import time

import pytest

from tf_frame.runs.setup.folder_watch import watched_folder
from tf_frame.testing.local_job import wait_for


@pytest.fixture
def pipe(tmp_path):
    """A pipe without a writer; who opens it waits, as for a file of a lost server."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    return path


def test_a_folder_that_answers_ends_nothing(tmp_path):
    codes, lines, asked = [], [], []

    def ask(path):
        asked.append(path)
        if len(asked) % 2:
            raise OSError("stale file handle")

    arguments = {"timeout_secs": 0.5, "report": lines.append, "ask": ask, "end": codes.append}
    with watched_folder(str(tmp_path), **arguments):
        wait_for(lambda: len(asked) > 20, "twenty answers")
    assert set(asked) == {str(tmp_path)}
    assert not codes and not lines
    count = threading.active_count()
    wait_for(lambda: threading.active_count() <= count, "the end of the threads")


def test_a_remote_folder_is_not_asked():
    def ask(path):
        raise AssertionError

    before = threading.active_count()
    with watched_folder("gs://bucket/run", timeout_secs=0.1, report=print, ask=ask):
        assert threading.active_count() == before


@pytest.mark.process
@pytest.mark.timeout(60)
def test_a_folder_that_hangs_ends_the_process_although_it_waits(pipe):
    code = f"""
from tf_frame.runs.setup.folder_watch import watched_folder
with watched_folder({str(pipe)!r}, timeout_secs=0.5, report=print, ask=open):
    open({str(pipe)!r})
"""
    began = time.monotonic()
    done = subprocess.run([sys.executable, "-u", "-c", code], capture_output=True, text=True)
    assert done.returncode == 138 and time.monotonic() - began < 30
    (line,) = done.stdout.splitlines()
    assert line.startswith(f"the folder {pipe} has not answered for 0.5 s (--cluster_timeout_secs)")


@pytest.mark.process
@pytest.mark.timeout(60)
def test_the_end_does_not_wait_for_a_line_that_nobody_takes(pipe):
    code = f"""
from tf_frame.runs.setup.folder_watch import watched_folder
path = {str(pipe)!r}
with watched_folder(path, timeout_secs=0.5, report=lambda line: open(path), ask=open):
    open(path)
"""
    assert subprocess.run([sys.executable, "-c", code]).returncode == 138
