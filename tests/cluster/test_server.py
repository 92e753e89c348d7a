"""The loop of a parameter server, which ends when the chief says so."""

import os
import platform
import socket
import sys
import threading

import pytest
import tensorflow.compat.v1 as tf

import forked
from tf_frame.cluster.cluster import Cluster
from tf_frame.cluster.proxy import reach_directly
from tf_frame.cluster.server import LEAVE, STOPPED, serve, start_server
from tf_frame.errors import TfFrameError

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
    done = forked.run(command, env={**os.environ, **variables}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert (int(done.stdout) < 100) == kept


def test_a_port_that_is_in_use_is_one_line():
    with socket.create_server(("127.0.0.1", 0)) as other:
        address = f"127.0.0.1:{other.getsockname()[1]}"
        cluster = Cluster(role="ps", target=f"grpc://{address}", jobs={"ps": {0: address}})
        with pytest.raises(
            TfFrameError, match=f"ps-0 cannot start its server at {address}: .*port"
        ):
            start_server(cluster, tf.ConfigProto())


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
    reach_directly(["a:1", "[::1]:2", "a:2"])
    name = "no_grpc_proxy"  # Upper case is another variable, which gRPC does not read.
    assert os.environ.get(name) == excepted
