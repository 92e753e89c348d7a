"""The system refuses memory, threads or processes: one line, exit code 1."""

import errno
import os
import resource
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest

import forked
from job import WORDS, job_environment
from tf_frame.cli import main as main_module
from tf_frame.plugin.imports import import_target
from tf_frame.resources import ResourceError, check_threads, refusal


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable"), "temporarily"),
        (OSError(errno.ENOMEM, "Cannot allocate memory"), "Cannot allocate memory"),
        (RuntimeError("can't start new thread"), "new thread"),
        (ImportError("libtensorflow_cc.so.2: failed to map segment from shared object"), "segment"),
        (MemoryError(), "no memory"),
    ],
    ids=str,
)
def test_refusals_are_one_line(error, reason, monkeypatch, capsys):
    def refuse(argv):
        raise error

    assert reason in str(refusal(error))
    monkeypatch.setattr(main_module, "_dispatch", refuse)
    assert main_module.main(["doctor"]) == 1
    said = capsys.readouterr().err
    assert said.startswith("tf-frame: the system refuses this process memory, threads or processes")
    assert said.count("\n") == 1


@pytest.mark.parametrize(
    "error",
    [RuntimeError("another"), ImportError("no module"), OSError(errno.ENOENT, "none"), KeyError()],
    ids=repr,
)
def test_other_errors_are_none(error):
    assert refusal(error) is None


def test_a_plugin_is_not_to_blame_for_a_library_without_memory(monkeypatch):
    class EntryPoint:
        def load(self):
            raise ImportError("libtensorflow_cc.so.2: failed to map segment from shared object")

    class Info:
        name, target = "toy", "toy:Toy"
        kind = type("Kind", (), {"group": "tf_frame.models"})

    monkeypatch.setattr("importlib.metadata.EntryPoint", lambda *_: EntryPoint())
    with pytest.raises(ResourceError, match="failed to map segment"):
        import_target(Info())


def test_threads_are_tried_and_ended():
    before = threading.active_count()
    check_threads()
    assert threading.active_count() == before


def test_threads_that_are_refused_are_told_of_and_none_is_left(monkeypatch):
    before, start = threading.active_count(), threading.Thread.start
    tries = []

    def refuse(thread):
        tries.append(thread)
        if len(tries) > 3:
            raise RuntimeError("can't start new thread")
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", refuse)
    with pytest.raises(ResourceError, match="can't start new thread"):
        check_threads()
    assert threading.active_count() == before


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.parametrize("megabytes", [60, 400, 1000])
def test_a_run_with_little_memory(tmp_path, megabytes):
    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))

    words = [*forked.TF_FRAME, *WORDS, "--model_dir", "run"]
    how = {"env": job_environment(tmp_path), "cwd": tmp_path, "preexec_fn": limit}
    done = subprocess.run(words, capture_output=True, text=True, timeout=100, **how)
    assert done.returncode == 1, done.stderr
    assert done.stderr.startswith("tf-frame: the system refuses this process memory")
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "run").exists()


# Runs a command as a user who may have so many threads; modules are imported before, as that user
# may not be able to read them.
FEW_THREADS = """
import encodings.ascii, importlib, os, pkgutil, resource, sys, threading
import tf_frame, counted_toy
for module in pkgutil.walk_packages(tf_frame.__path__, "tf_frame."):
    if "templates" not in module.name and "__main__" not in module.name:
        importlib.import_module(module.name)
os.setgid(54321)
os.setuid(54321)
most = len(os.listdir("/proc/self/task")) + int(sys.argv[1])
resource.setrlimit(resource.RLIMIT_NPROC, (most, most))
sys.exit(tf_frame.cli.main.main(sys.argv[2:]))
"""


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.skipif(os.geteuid() != 0, reason="only root becomes another user")
@pytest.mark.parametrize("more", [0, 5])
def test_a_run_with_a_full_process_table(more):
    with tempfile.TemporaryDirectory() as folder:  # pytest's folders are for this user alone.
        os.chmod(folder, 0o777)
        words = [*(sys.executable, "-c", FEW_THREADS, str(more)), *WORDS, "--model_dir", "run"]
        how = {"env": job_environment(Path(folder)), "cwd": folder}
        done = forked.run(words, capture_output=True, text=True, timeout=100, **how)
        assert done.returncode == 1, done.stderr
        assert "the system refuses this process memory, threads or processes" in done.stderr
        assert "can't start new thread" in done.stderr
        assert "Traceback" not in done.stderr
        assert os.listdir(folder) == ["site"]
