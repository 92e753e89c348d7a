"""Worker: runs tests on mutations, in copies of a tree and of a virtual environment.

A server process in the copy imports TensorFlow once and forks a process for each mutation.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from sites import Mutation

# Imported before the server forks: no module of the tree, since a mutation changes those.
PRELOADED = ("pytest", "tensorflow.compat.v1", "absl.app", "tqdm", "yaml")
OWNER = "MUTATIONS_OWNER"  # A variable of the environment, which marks the processes of a worker.


class Worker:
    """Judges mutations in copies of a tree and of a virtual environment.

    Args:
      folder: folder of the copies.
      tree: the tree.
      python: interpreter of the environment.
      verdicts: failed test -> True if it passes without a mutation; workers share it.
    """

    def __init__(self, folder: Path, tree: Path, python: Path, verdicts: dict[str, bool]) -> None:
        self._folder, self._tree, self._verdicts = folder, folder / "tree", verdicts
        junk = shutil.ignore_patterns(".git", "__pycache__", ".*_cache", "*.egg-info", ".tox")
        shutil.copytree(tree, self._tree, symlinks=True, ignore=junk)
        environment = python.parent.parent
        _copy_environment(environment, folder / "venv", tree, self._tree)
        command = [folder / "venv" / python.relative_to(environment), __file__]
        streams: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        streams["stderr"] = subprocess.DEVNULL
        self._server = subprocess.Popen(command, cwd=self._tree, text=True, **streams)
        self._time = time.time_ns() - 10**15

    def close(self) -> None:
        """Ends the server."""
        self._server.kill()
        self._server.wait()

    def judge(self, mutation: Mutation, tests: list[str], seconds: float) -> str:
        """Returns what catches a mutation: a test, a file that cannot be collected, a time limit.

        Tests that also fail without a mutation do not count.
        """
        while tests := [test for test in tests if self._verdicts.get(test, True)]:
            path = self._tree / mutation.file
            source = path.read_bytes()
            try:
                self._write(path, mutation.apply(source))
                failure = self._first_failure(tests, seconds)
            finally:
                self._write(path, source)
            if not failure or self._verdicts.get(failure):
                return failure
            suspects = [failure] if failure in tests else tests
            passes = not self._first_failure(suspects, seconds)
            if failure in tests:
                self._verdicts[failure] = passes
            if passes:
                return failure
            if failure not in tests:
                return ""
        return ""

    def _write(self, path: Path, source: bytes) -> None:
        """Writes a file with a new time of modification, so that no old bytecode is valid."""
        path.write_bytes(source)
        self._time += 10**10
        os.utime(path, ns=(self._time, self._time))

    def _first_failure(self, tests: list[str], seconds: float) -> str:
        result = self._folder / "result"
        result.unlink(missing_ok=True)
        request = {"tests": tests, "seconds": seconds, "folder": str(self._folder)}
        print(json.dumps(request), file=self._server.stdin, flush=True)
        assert self._server.stdout
        status = json.loads(self._server.stdout.readline())
        for path in Path("/proc").glob("[0-9]*/environ"):  # Processes that tests have left.
            with contextlib.suppress(OSError):
                if f"{OWNER}={self._folder}\0".encode() in path.read_bytes():
                    os.kill(int(path.parent.name), signal.SIGKILL)
        if status is None:
            return "time limit"
        return result.read_text() if result.exists() else f"end of the process, status {status}"


def _copy_environment(old: Path, new: Path, old_tree: Path, new_tree: Path) -> None:
    """Copies a virtual environment by hard links, with editable installs of the new tree."""
    subprocess.run(["cp", "-al", old, new], check=True)
    site = "lib/python*/site-packages/"
    patterns = ("bin/*", site + "*.pth", site + "*editable*.py", site + "*/direct_url.json")
    packages = 0
    for path in [path for pattern in patterns for path in new.glob(pattern)]:
        before = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
        after = before.replace(f"{old_tree}/".encode(), f"{new_tree}/".encode())
        packages += after != before
        after = after.replace(f"{old}/".encode(), f"{new}/".encode())
        if after != before:
            mode = path.stat().st_mode
            path.unlink()  # Only this link.
            path.write_bytes(after)
            path.chmod(mode)
    if not packages:
        raise SystemExit(f"no package in {old} is an editable install of {old_tree}")


def serve() -> None:
    """Answers requests on standard input: forks, runs the tests, prints the exit status."""
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    for name in PRELOADED:
        importlib.import_module(name)
    del os.environ["TF_CPP_MIN_LOG_LEVEL"]
    sys.path[0] = os.getcwd()
    for line in sys.stdin:
        request = json.loads(line)
        child = os.fork()
        if child == 0:
            try:
                _run_tests(Path(request["folder"]), request["tests"])
            finally:
                os._exit(99)
        deadline = time.monotonic() + request["seconds"]
        ended = status = 0
        while not ended and time.monotonic() < deadline:
            time.sleep(0.05)
            ended, status = os.waitpid(child, os.WNOHANG)
        with contextlib.suppress(OSError):
            os.killpg(child, signal.SIGKILL)
        if not ended:
            os.waitpid(child, 0)
        print(json.dumps(status if ended else None), flush=True)


def _run_tests(folder: Path, tests: list[str]) -> None:
    import pytest

    os.setsid()
    os.environ[OWNER] = str(folder)
    with open(folder / "log", "wb") as log, open(os.devnull, "rb") as nothing:
        for number, file in enumerate((nothing, log, log)):
            os.dup2(file.fileno(), number)
    sys.argv = ["pytest"]
    files = dict.fromkeys(test.partition("::")[0] for test in tests)
    options = [
        "-q",
        "-x",
        "-p",
        "no:cacheprovider",
        "--timeout=120",
        f"--basetemp={folder / 'tmp'}",
    ]
    os._exit(pytest.main([*options, *files], plugins=[Chosen(tests, folder / "result")]))


class Chosen:
    """Plugin of pytest: keeps the chosen tests, and writes the name of the first failure."""

    def __init__(self, tests: list[str], result: Path) -> None:
        self._tests, self._result, self._failed = tests, result, ""

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        ranks: dict[str, int] = {}  # Test or file -> rank; tests of a file stay together.
        for rank, test in enumerate(self._tests):
            ranks[test] = rank
            ranks.setdefault(test.partition("::")[0], rank)
        rows = [(item.nodeid.partition("::")[0], item.nodeid, item) for item in items]
        rows = [row for row in rows if not {*row[:2]}.isdisjoint(self._tests)]
        rows.sort(key=lambda row: (ranks[row[0]], ranks.get(row[1], 0)))
        items[:] = [item for *_, item in rows]

    def pytest_collectreport(self, report: Any) -> None:
        self.pytest_runtest_logreport(report)

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed and not self._failed:
            self._failed = report.nodeid or "collection"

    def pytest_sessionfinish(self) -> None:
        self._result.write_text(self._failed)


if __name__ == "__main__":
    serve()
