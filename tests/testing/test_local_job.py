"""Limits of time of a local job; jobs that train are in tests/cluster."""

import subprocess
import sys

import pytest

from tf_frame.testing.local_job import LocalJob, wait_for
from tf_frame.testing.local_servers import local_servers


def ending(code):
    """Stands in for `subprocess.Popen`: a process that ends at once."""
    return lambda words, **options: subprocess.Popen(
        [sys.executable, "-c", f"raise SystemExit({code})"], **options
    )


def test_waiting_has_an_end():
    with pytest.raises(AssertionError, match="not within 0.05 s: a miracle"):
        wait_for(lambda: False, "a miracle", secs=0.05)


def test_a_task_that_fails_ends_the_waiting(tmp_path):
    with LocalJob(tmp_path, ("run",), num_workers=2, popen=ending(3)) as job:
        job.start()
        with pytest.raises(AssertionError, match="ended before checkpoint 5: .*3"):
            job.wait_for_checkpoint(5)
        with pytest.raises(AssertionError):
            job.ended_well()


def test_no_process_outlives_the_block(tmp_path):
    started = []

    def sleeping(words, **options):
        started.append(subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE))
        return started[-1]

    with LocalJob(tmp_path, ("run",), num_ps=1, popen=sleeping) as job:
        job.start()
        assert [process.poll() for process in started] == [None, None]
    assert [process.poll() for process in started] == [-9, -9]


def test_a_server_that_ends_is_told():
    with pytest.raises(AssertionError, match="ended"), local_servers(popen=ending(1)):
        pass
