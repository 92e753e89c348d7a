"""The loop of a parameter server, which ends when the chief says so."""

import contextlib
import os
import platform
import socket
import subprocess
import sys
import threading

import pytest
import tensorflow.compat.v1 as tf

import forked
from tf_frame.cluster.cluster import Cluster
from tf_frame.cluster.server import LEAVE, STOPPED, bypass_proxy, serve, start_server
from tf_frame.errors import TfFrameError
from tf_frame.testing.ports import free_ports

QUEUE = "tf_frame/commands"


@pytest.fixture
def server():
    return tf.train.Server.create_local_server()


def send(server, *commands):
    with tf.Graph().as_default():
        queue = tf.FIFOQueue(-1, tf.string, shapes=[[]], shared_name=QUEUE)
        with tf.Session(server.target) as session:
            for command in commands:
                session.run(queue.enqueue(command))


@pytest.mark.parametrize("commands", [(LEAVE,), (STOPPED, LEAVE)])
def test_it_serves_until_the_chief_ends_the_job_and_leaves_no_thread(server, commands):
    before, others = set(threading.enumerate()), []
    send(server, b"another", *commands)
    assert serve(server, obey=others.append)
    assert others == [b"another"]
    assert set(threading.enumerate()) <= before


def test_a_signal_ends_it_once_the_chief_has_stopped(server):
    before = set(threading.enumerate())
    send(server, STOPPED)
    assert not serve(server, signalled=lambda: True)
    assert set(threading.enumerate()) <= before


# Prints the page faults of using 64 MiB that were used and freed before.
PAGE_FAULTS = """
import ctypes, resource
from tf_frame.cluster.server import keep_freed_memory
keep_freed_memory()
c = ctypes.CDLL(None)
c.malloc.restype, c.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
c.memset.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t]
c.free.argtypes = [ctypes.c_void_p]
def use():
    block = c.malloc(2**26)
    c.memset(block, 1, 2**26)
    c.free(block)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt
first = use()
print(use() - first)
"""


@pytest.mark.process
@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="mallopt is glibc's")
@pytest.mark.parametrize(
    ("variables", "kept"), [({}, True), ({"MALLOC_MMAP_THRESHOLD_": "131072"}, False)]
)
def test_a_server_keeps_freed_memory_unless_the_user_configures_malloc(variables, kept):
    command = [sys.executable, "-c", PAGE_FAULTS]
    done = forked.succeed(command, env={**os.environ, **variables})
    assert (int(done.stdout) < 100) == kept


def test_a_port_that_is_in_use_is_one_line():
    with socket.create_server(("127.0.0.1", 0)) as other:
        address = f"127.0.0.1:{other.getsockname()[1]}"
        cluster = Cluster(role="ps", target=f"grpc://{address}", jobs={"ps": {0: address}})
        with pytest.raises(
            TfFrameError, match=f"ps-0 cannot start its server at {address}: .*port"
        ):
            start_server(cluster, tf.ConfigProto())


# Starts the server of a task and says so; a worker uses a parameter server, which is lost
# before it goes on.
TASK = """
import sys
import tensorflow.compat.v1 as tf
from tf_frame.cluster.cluster import Cluster
from tf_frame.cluster.server import start_server
role, own, ps = sys.argv[1:]
cluster = Cluster(role=role, target=f"grpc://{own}", jobs={"ps": {0: ps}, "worker": {0: own}})
start_server(cluster, tf.ConfigProto())
if role == "worker":
    with tf.Graph().as_default(), tf.device("/job:ps/task:0"):
        value = tf.random.uniform([])
    session = tf.Session(cluster.target, graph=value.graph)
    session.run(value)
print("ready", flush=True)
sys.stdin.readline()
for _ in range(2):
    try:
        session.run(value)
    except tf.errors.UnavailableError:
        print("lost", flush=True)
    session.close()
    session = tf.Session(cluster.target, graph=value.graph)
"""


@pytest.mark.slow
@pytest.mark.process
def test_a_session_whose_server_is_lost_can_be_closed_and_a_new_one_waits_for_nothing():
    """TensorFlow by itself would wait for ever in both cases."""
    own, ps = [f"127.0.0.1:{port}" for port in free_ports(2)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with contextlib.ExitStack() as stack:
        tasks = []
        for words in (("ps", ps, ps), ("worker", own, ps)):
            task = stack.enter_context(forked.Popen([sys.executable, "-c", TASK, *words], **pipes))
            stack.callback(task.kill)
            tasks.append(task)
            assert task.stdout.readline() == "ready\n"
        server, worker = tasks
        server.kill()
        server.wait()
        assert worker.communicate("go on\n", timeout=60)[0] == "lost\nlost\n"
        assert worker.returncode == 0


@pytest.mark.parametrize(
    ("variables", "excepted"),
    [
        ({}, None),
        ({"http_proxy": "p:1"}, "a,::1"),
        ({"https_proxy": "p:1", "no_proxy": "b,a"}, "b,a,::1"),
        ({"http_proxy": "p:1", "no_proxy": "b", "no_grpc_proxy": "c"}, "c,a,::1"),
        ({"http_proxy": "p:1", "grpc_proxy": "q:1"}, None),
    ],
)
def test_tasks_are_reached_without_the_proxy_of_the_web(monkeypatch, variables, excepted):
    for name in ("http_proxy", "https_proxy", "no_proxy", "grpc_proxy", "no_grpc_proxy"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(os, "environ", dict(os.environ))
    bypass_proxy(["a:1", "[::1]:2", "a:2"])
    name = "no_grpc_proxy"  # Upper case is another variable, which gRPC does not read.
    assert os.environ.get(name) == excepted
