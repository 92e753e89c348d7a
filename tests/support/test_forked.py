"""Forked processes compared with fresh processes of the same commands."""

import os
import signal
import subprocess
import sys

import pytest

import forked

SHARED = "import sys; print('tensorflow' in sys.modules, 'tf_frame' in sys.modules)"
INTERPRETER = """
import atexit, os, signal, sys, threading
atexit.register(print, "at exit")
def late():
    threading.main_thread().join()
    print("in a thread")
threading.Thread(target=late).start()
sys.path[0] = sys.path[0] or os.getcwd()
print(__name__, sys.argv, sys.orig_argv[1:], sys.path, sys.executable, os.getcwd(), os.getppid())
print(sorted(os.environ.items()), sys.stdin.read(), sys.flags, sys.stdout.line_buffering)
print([signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGPIPE)])
print("to standard error", file=sys.stderr)
"""


def both(words, **options):
    """Exit codes and output of a forked process and of a fresh actual."""
    options = {"capture_output": True, "text": True, "timeout": 60, **options}
    command = [sys.executable, *words]
    results = [start(command, **options) for start in (forked.run, subprocess.run)]
    return [(done.args, done.returncode, done.stdout, done.stderr) for done in results]


def test_tensorflow_is_there_and_tf_frame_is_not():
    command = [sys.executable, "-c", SHARED]
    assert forked.run(command, capture_output=True).stdout == b"True False\n"
    assert subprocess.run(command, capture_output=True).stdout == b"False False\n"


def test_a_program_finds_what_it_finds_in_a_fresh_interpreter(tmp_path):
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}:relative", "OF_THE_TEST": "é"}
    options = {"env": environment, "cwd": tmp_path, "input": "from the test"}
    (tmp_path / "program.py").write_text(INTERPRETER)
    for words in (["-c", INTERPRETER, "a", "-b"], ["program.py", "a"], ["-m", "program", "--c"]):
        actual, expected = both(words, **options)
        assert actual == expected
        assert actual[2].splitlines()[-2:] == ["in a thread", "at exit"]
        assert actual[3] == "to standard error\n"


@pytest.mark.parametrize(
    ("program", "status"),
    [
        ("pass", 0),
        ("raise SystemExit(5)", 5),
        ("raise SystemExit('a message')", 1),
        ("import os; os._exit(7)", 7),
        ("raise ValueError('wrong')", 1),
        ("raise KeyboardInterrupt", -signal.SIGINT),
        ("import os; os.abort()", -signal.SIGABRT),
    ],
)
def test_a_program_ends_as_in_a_fresh_interpreter(program, status):
    actual, expected = both(["-c", program])
    assert actual == expected
    assert actual[1] == status


def test_a_process_gets_signals_and_has_a_group_of_its_own():
    program = "import time; print('begun', flush=True); time.sleep(60)"
    for signum in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
        options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "start_new_session": True}
        with forked.Popen([sys.executable, "-c", program], **options) as process:
            assert process.stdout.readline() == b"begun\n"
            assert process.poll() is None
            assert os.getpgid(process.pid) == process.pid
            os.killpg(process.pid, signum)
            assert process.wait(timeout=60) == -signum


def test_a_process_that_takes_too_long_or_fails_is_an_error_as_of_subprocess():
    sleeping = [sys.executable, "-c", "import time; time.sleep(60)"]
    with pytest.raises(subprocess.TimeoutExpired):
        forked.run(sleeping, timeout=0.1)
    with pytest.raises(subprocess.CalledProcessError):
        forked.run([sys.executable, "-c", "raise SystemExit(3)"], check=True)


@pytest.mark.parametrize(
    ("words", "options"),
    [
        (["-c", SHARED], {"env": {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "0"}}),
        (["-c", SHARED], {"env": {**os.environ, "PYTHONHASHSEED": "3"}}),
        (["-c", SHARED], {"close_fds": False}),
        (["-I", "-c", SHARED], {}),
    ],
)
def test_a_command_that_cannot_be_forked_faithfully_is_started_anew(words, options):
    actual, expected = both(words, **options)
    assert actual == expected
    assert actual[2] == "False False\n"


def test_no_process_stays_behind_and_orphans_go_where_they_go():
    program = "import os; pid = os.fork(); print(pid if pid else '', flush=True)"
    done = forked.run([sys.executable, "-c", program], capture_output=True, text=True)
    with pytest.raises(ChildProcessError):
        os.waitpid(int(done.stdout), 0)
