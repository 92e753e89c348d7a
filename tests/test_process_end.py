"""The quick end of a process: nothing is lost, and the exit code is kept."""

import subprocess
import sys

import pytest

PROGRAM = """
import atexit, concurrent.futures, subprocess, sys, threading, time, types
from tf_frame.process_end import end_process
if "quick" in sys.argv:
    sys.modules["tensorflow"] = types.ModuleType("tensorflow")
file, folder = open("file", "w"), sys.argv[1]
file.write("kept")
binary = open("binary", "wb")
binary.write(b"kept")
closed = open("closed", "w")
closed.close()
atexit.register(lambda: print("at exit"))
pool = concurrent.futures.ThreadPoolExecutor()
pool.submit(len, "")
full = open("/dev/full", "w")
full.write("lost")
ended = subprocess.Popen(["true"], stdin=subprocess.PIPE)
ended.wait()
ended.stdin.write(b"unread")
go = threading.Event()

def wait():
    go.wait()
    print("thread", flush=True)

threading.Thread(target=wait).start()
threading.Timer(0.1, go.set).start()
print("no line end", end=" ")
end_process(3)
"""


@pytest.mark.parametrize("how", ["quick", "plain"])
def test_threads_functions_and_files_end_as_at_any_end(tmp_path, how):
    words = [sys.executable, "-c", PROGRAM, str(tmp_path), how]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 3
    if how == "quick":
        line = "tf-frame: /dev/full cannot be written: No space left on device"
        assert set(done.stderr.splitlines()) == {line}
    assert done.stdout == "no line end thread\nat exit\n"
    assert (tmp_path / "file").read_text() == "kept"
    assert (tmp_path / "binary").read_text() == "kept"
