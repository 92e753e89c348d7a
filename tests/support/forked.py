"""Python commands as real processes, forked from a process that has imported TensorFlow.

A stand-in for `subprocess` in tests that start commands. Importing TensorFlow costs four to five
seconds of CPU; a fork server pays them once, and a command starts in some hundredths of a second:

    import forked

    done = forked.run([sys.executable, "-m", "tf_frame", "run", ...], capture_output=True)
    process = forked.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, env=env)

A process is a child of the caller with a pid, standard streams, environment, folder, process
group and exit status of its own, as `subprocess` would start it: arguments, `sys.path` (with
`PYTHONPATH`), `__main__` and signal handlers are as in a fresh interpreter, `tf_frame` and plugins
are imported anew, and at the end threads are joined and `atexit` runs. Three things differ:
TensorFlow's modules and their dependencies are in `sys.modules` already, hashes of strings have the
same seed in all processes of a server, and output may be lost that objects write when the
interpreter deletes the last modules.

`subprocess` starts the commands that cannot be forked faithfully: other programs, options of the
interpreter, options of `Popen` such as `preexec_fn`, variables of the environment that TensorFlow
or Python read when they start (`TF_CPP_MIN_LOG_LEVEL`, `PYTHONHASHSEED` ...), systems other than
Linux. Tests of start-up time, of a command's imports and of the log of TensorFlow's libraries use
`subprocess` itself.

Run as a program, this file is the server; for that it imports nothing of tf-frame.
"""

from __future__ import annotations

import atexit
import ctypes
import functools
import io
import os
import pickle
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

TF_FRAME = (sys.executable, "-m", "tf_frame")  # The command `tf-frame`.
_SET_CHILD_SUBREAPER = 36  # of prctl(2)
# What is imported before forking: nothing of tf-frame, and nothing that reads its surroundings.
_PRELOADED = ("tensorflow.compat.v1", "absl.app", "importlib.metadata", "tqdm", "yaml")
# Variables that are read when an interpreter or TensorFlow starts.
_READ_AT_START = ("TF_", "PYTHON", "LC_", "LANG", "LD_", "OMP_", "OPENBLAS_", "MKL_", "KMP_")
_READ_LATER = ("TF_CONFIG", "PYTHONPATH", "PYTHONUNBUFFERED")
_QUIET = ("TF_CPP_MIN_LOG_LEVEL", "3")  # Also the level of commands unless they ask for another.
_FORKABLE_OPTIONS = {
    *("stdin", "stdout", "stderr", "env", "cwd", "start_new_session"),
    *("text", "encoding", "errors", "universal_newlines", "bufsize"),
}


def run(
    args: Sequence[Any],
    *,
    input: Any = None,
    capture_output: bool = False,
    timeout: float | None = None,
    check: bool = False,
    **options: Any,
) -> subprocess.CompletedProcess[Any]:
    """Runs a command to its end; arguments, result and errors of `subprocess.run`."""
    if capture_output:
        options |= {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    if input is not None:
        options["stdin"] = subprocess.PIPE
    with Popen(args, **options) as process:
        try:
            stdout, stderr = process.communicate(input, timeout=timeout)
        except BaseException:
            process.kill()
            raise
    done = subprocess.CompletedProcess(args, process.returncode, stdout, stderr)
    if check:
        done.check_returncode()
    return done


def succeed(args: Sequence[Any], **options: Any) -> subprocess.CompletedProcess[str]:
    """Runs a command that has to end well; returns the process with its output as text."""
    done = run(args, capture_output=True, text=True, timeout=200, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def start_logged(args: Sequence[Any], log: Path, **options: Any) -> Popen:
    """Starts a command with output to a file; options are as in `subprocess.Popen`."""
    with open(log, "w", encoding="utf-8") as file:
        return Popen(args, stdout=file, stderr=subprocess.STDOUT, **options)


def kill_all(processes: Iterable[Popen]) -> None:
    """Kills the processes that still run, and waits for all of them."""
    for process in processes:
        process.kill()
        process.wait()


class Popen(subprocess.Popen):  # type: ignore[type-arg]
    """`subprocess.Popen` that forks a Python command from the server where that is possible."""

    def __init__(self, args: Sequence[Any], **options: Any) -> None:
        self._program = _program([os.fspath(word) for word in args], options)
        self._new_session = options.get("start_new_session", False)
        super().__init__(args, **options)

    def _execute_child(self, *how: Any) -> None:
        """Forks instead of starting a process; the order of arguments is as in Python 3.10."""
        if self._program is None:
            super()._execute_child(*how)  # type: ignore[misc]
            return
        args, cwd, env = how[0], how[5], how[6]
        p2cread, p2cwrite, c2pread, c2pwrite, errread, errwrite = how[10:16]
        streams = (p2cread, c2pwrite, errwrite)
        self.pid = _server().fork(
            {
                "program": self._program,
                "args": [os.fspath(word) for word in args],
                "cwd": os.fspath(cwd or os.getcwd()),
                "environment": dict(os.environ if env is None else env),
                "new_session": self._new_session,
            },
            [number if stream == -1 else stream for number, stream in enumerate(streams)],
        )
        self._child_created = True
        pipes = (p2cread, p2cwrite, c2pread, c2pwrite, errread, errwrite)
        self._close_pipe_fds(*pipes)  # type: ignore[attr-defined]


def _program(args: list[str], options: Mapping[str, Any]) -> tuple[str, str, list[str]] | None:
    """Returns kind (`c`, `m` or `file`), program and `sys.argv`; None for no fork."""
    if len(args) < 2 or args[0] != sys.executable or not _can_fork(options):
        return None
    if args[1] in ("-c", "-m"):
        return (args[1][1], args[2], ["-c", *args[3:]])
    return None if args[1].startswith("-") else ("file", args[1], args[1:])


def _can_fork(options: Mapping[str, Any]) -> bool:
    cwd, environment = options.get("cwd"), options.get("env")
    return (
        sys.platform == "linux"
        and options.keys() <= _FORKABLE_OPTIONS
        and (cwd is None or os.path.isdir(cwd))
        and (environment is None or _at_start(environment) == _at_start(os.environ))
        and _at_start(os.environ) == _server().environment
    )


def _at_start(environment: Mapping[str, str]) -> dict[str, str]:
    return {
        name: value
        for name, value in environment.items()
        if name.startswith(_READ_AT_START) and name not in _READ_LATER and (name, value) != _QUIET
    }


class _Server:
    """Client of the server process, which ends with this process."""

    def __init__(self) -> None:
        self.environment = _at_start(os.environ)
        client, server = socket.socketpair()
        command = [sys.executable, os.path.abspath(__file__), str(server.fileno())]
        without_path = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
        quiet: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self._process = subprocess.Popen(
            command, env=without_path, pass_fds=[server.fileno()], **quiet
        )
        server.close()
        self._socket, self._lock = client, threading.Lock()
        self._prctl = ctypes.CDLL(None, use_errno=True).prctl
        atexit.register(self.close)

    def fork(self, request: dict[str, Any], streams: list[int]) -> int:
        """Starts a process with these standard streams; returns its pid.

        The parent of the new process ends at once, so that the process falls to its nearest
        ancestor who reaps orphans. Only during this call is that the caller: orphans of other
        commands go where they always went.
        """
        message = pickle.dumps(request)
        with self._lock:
            self._prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
            try:
                socket.send_fds(self._socket, [len(message).to_bytes(8, "big")], streams)
                self._socket.sendall(message)
                return int.from_bytes(_receive(self._socket, 8), "big")
            finally:
                self._prctl(_SET_CHILD_SUBREAPER, 0, 0, 0, 0)

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        self._socket.close()


def _server() -> _Server:
    """Returns the server of this process, which the first command starts."""
    return _server_for_process(os.getpid())


@functools.cache
def _server_for_process(pid: int) -> _Server:
    return _Server()


def _receive(connection: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        part = connection.recv(size - len(data))
        if not part:
            raise EOFError(f"the fork server ended: does {__file__} run as a program?")
        data += part
    return data


# From here on: the server, and the processes that it forks.


def _serve(connection: socket.socket) -> dict[str, Any]:
    """Forks for each request; returns in every new process, with the request."""
    while True:
        header, streams, *_ = socket.recv_fds(connection, 8, 3)
        if not header:
            sys.exit()
        size = int.from_bytes(header + _receive(connection, 8 - len(header)), "big")
        request: dict[str, Any] = pickle.loads(_receive(connection, size))
        mine, theirs = socket.socketpair()
        between = os.fork()
        if between == 0:
            if os.fork() == 0:
                connection.close()
                theirs.close()
                _prepare(request, streams)
                mine.sendall(os.getpid().to_bytes(8, "big"))
                mine.recv(1)  # Ends when `theirs` is closed: the new parent is there.
                mine.close()
                return request
            os._exit(0)
        os.waitpid(between, 0)
        mine.close()
        for descriptor in streams:
            os.close(descriptor)
        pid = _receive(theirs, 8)
        theirs.close()
        connection.sendall(pid)


def _prepare(request: dict[str, Any], streams: list[int]) -> None:
    """Makes a process what its starter may rely on from the beginning."""
    if request["new_session"]:
        os.setsid()
    os.chdir(request["cwd"])
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    for stream in streams:
        os.close(stream)
    signal.signal(signal.SIGINT, signal.default_int_handler)


def _become(request: dict[str, Any]) -> None:
    """Makes the rest of this interpreter as it is when a program begins, and runs the program."""
    import random
    import runpy
    import types

    import numpy as np

    os.environ.clear()
    os.environ.update(request["environment"])
    time.tzset()
    random.seed()
    np.random.seed()
    # Those of the server were made for other files: whether they can seek, for example.
    if os.environ.get("PYTHONUNBUFFERED"):
        raw = open(1, "wb", buffering=0, closefd=False)  # noqa: SIM115
        sys.stdout = io.TextIOWrapper(raw, write_through=True)
    else:
        by_line = os.isatty(1)
        sys.stdout = open(1, "w", buffering=1 if by_line else -1, closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", 1, errors="backslashreplace", closefd=False)  # noqa: SIM115
    sys.excepthook = _report
    kind, program, argv = request["program"]
    sys.argv, sys.orig_argv = argv, request["args"]
    first = os.path.dirname(os.path.abspath(program)) if kind == "file" else request["cwd"]
    added = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    sys.path[:0] = [first, *(os.path.abspath(folder) for folder in added if folder)]
    if kind == "m":
        runpy.run_module(program, run_name="__main__", alter_sys=True)
        return
    main = types.ModuleType("__main__")
    sys.modules["__main__"] = main
    if kind == "file":
        main.__file__ = program
        with open(program, "rb") as source:
            code = compile(source.read(), program, "exec")
    else:
        code = compile(program, "<string>", "exec")
    exec(code, main.__dict__)


def _report(kind: type[BaseException], error: BaseException, traceback: Any) -> None:
    """Prints an uncaught exception without the frames of this file."""
    while traceback is not None and traceback.tb_frame.f_code.co_filename == __file__:
        traceback = traceback.tb_next
    sys.__excepthook__(kind, error.with_traceback(traceback), traceback)


def _leave_out_shared_modules(shared: list[tuple[str, Any]]) -> None:
    """Saves the end of a process the 0.2 s that tearing down TensorFlow's modules takes.

    Runs as the last of the `atexit` functions. The program's own modules and objects are torn
    down as usual.
    """
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(shared))
    for name, module in shared:
        if sys.modules.get(name) is module:
            del sys.modules[name]


def _main() -> None:
    """Imports the shared modules and serves; a forked process goes on from here as its program.

    A program ends as the interpreter itself does at the end of this file: threads are joined,
    `atexit` runs, streams are flushed, an exception becomes the exit status.
    """
    import gc
    import importlib

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    connection = socket.socket(fileno=int(sys.argv[1]))
    del sys.path[0]
    sys.modules["__main__"].__dict__.pop("__annotations__", None)
    environment = dict(os.environ)
    os.environ.update([_QUIET])
    shared: list[tuple[str, Any]] = []
    atexit.register(_leave_out_shared_modules, shared)
    for name in _PRELOADED:
        importlib.import_module(name)
    shared += sys.modules.items()
    os.environ.clear()
    os.environ.update(environment)
    gc.freeze()
    _become(_serve(connection))


if __name__ == "__main__":
    _main()
