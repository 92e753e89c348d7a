"""Locks between processes and within one; they name their holder."""

import fcntl
import os
import shutil
import subprocess
import sys

import pytest

from tf_frame.file_lock import LockHeldError, file_lock, is_locked

# Locks a file and waits.
HOLD = """
import sys
from tf_frame.file_lock import file_lock
with file_lock(sys.argv[1]):
    print("held", flush=True)
    sys.stdin.readline()
"""


def test_the_holder_is_named_and_a_new_one_replaces_it(tmp_path):
    path = tmp_path / "a.lock"
    path.write_text("process 1 on another machine with a long name\n")
    with file_lock(str(path)) as is_held:
        assert is_held()
        with pytest.raises(LockHeldError) as refused, file_lock(str(path)):
            pass
        assert is_locked(str(path))
        assert refused.value.holder == f"process {os.getpid()} on {os.uname().nodename}"
        assert path.read_text() == f"{refused.value.holder}\n"
    assert not is_locked(str(path)) and not is_locked(str(tmp_path / "none"))
    with file_lock(str(path)):
        pass


def test_a_file_that_is_removed_or_replaced_is_not_held(tmp_path):
    path = tmp_path / "folder" / "a.lock"
    path.parent.mkdir()
    with file_lock(str(path)) as is_held:
        shutil.rmtree(path.parent)
        assert not is_held()
        path.parent.mkdir()
        path.touch()
        assert not is_held()


def test_a_process_that_only_looks_keeps_nobody_out(tmp_path, monkeypatch):
    path, flock, tried = tmp_path / "a.lock", fcntl.flock, []
    with open(path, "a+") as looker:
        flock(looker, fcntl.LOCK_SH)

        def count(file, kind):
            tried.append(kind)
            if len(tried) == 5:
                flock(looker, fcntl.LOCK_UN)
            flock(file, kind)

        monkeypatch.setattr(fcntl, "flock", count)
        with file_lock(str(path)):
            assert is_locked(str(path))
        # A lock that stays shared is none that looks.
        flock(looker, fcntl.LOCK_SH)
        with pytest.raises(LockHeldError), file_lock(str(path)):
            pass


def test_it_ends_with_a_process_that_is_killed(tmp_path):
    path = str(tmp_path / "a.lock")
    words = [sys.executable, "-c", HOLD, path]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(LockHeldError, match=f"process {holder.pid}"), file_lock(path):
            pass
        holder.kill()
    with file_lock(path):
        pass


def test_a_file_that_cannot_be_made_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError), file_lock(str(tmp_path / "none" / "a.lock")):
        pass
