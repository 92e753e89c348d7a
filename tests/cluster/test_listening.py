"""A server listens at the interface of its task's address alone."""

import socket
import subprocess
import sys

import pytest
import tensorflow.compat.v1 as tf

import forked
from sockets import answers, outer_address
from tf_frame.cluster import listening
from tf_frame.cluster.server import confined_server
from tf_frame.errors import TfFrameError
from tf_frame.testing.ports import free_ports

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="SO_BINDTODEVICE is Linux's")


@pytest.fixture
def outer():
    address = outer_address()
    if address is None:
        pytest.skip("this machine has only loopback")
    return address


def start(*hosts):
    """Starts the first task of a cluster; returns its port."""
    ports = free_ports(len(hosts))
    addresses = [f"{host}:{port}" for host, port in zip(hosts, ports, strict=True)]
    start.kept.append(confined_server({"worker": addresses}, "worker", 0, tf.ConfigProto()))
    alone = tf.ConfigProto(device_filters=["/job:worker/task:0"])
    with tf.Graph().as_default(), tf.Session(start.kept[-1].target, config=alone) as session:
        assert session.run(tf.constant(3)) == 3
    return ports[0]


start.kept = []  # A server that is forgotten may be closed.


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]"])
def test_a_server_of_a_local_job_is_not_reached_from_outside(outer, host):
    port = start(host, "127.0.0.1")
    assert answers(host.strip("[]"), port)
    assert not answers(outer, port)


def test_without_confinement_it_would_be(outer, monkeypatch, caplog):
    monkeypatch.setenv("TF_FRAME_LISTEN_ON", "all")
    port = start("127.0.0.1")
    assert answers("127.0.0.1", port)
    assert answers(outer, port)
    assert "127.0.0.1 listens on all interfaces, without authentication" in caplog.text


def test_a_task_of_several_machines_listens_where_its_address_is(outer, caplog):
    port = start(outer, "192.0.2.77")
    assert answers(outer, port)
    assert not answers("127.0.0.1", port)
    assert not caplog.records


@pytest.mark.parametrize("host", ["localhost", "no-such-host.invalid"])
def test_an_address_that_tells_no_interface_is_warned_of(host, caplog, monkeypatch):
    """Of a task at `localhost` in a job with others, the others may know another address."""
    monkeypatch.setattr(listening, "_bind", None)
    server = server_at(host, "192.0.2.77")
    assert listening.confine(server) == ""
    assert f"no single interface of this machine has the address {host}" in caplog.text


def server_at(*hosts):
    definition = tf.train.ServerDef(job_name="worker", task_index=0, protocol="grpc")
    job = definition.cluster.job.add(name="worker")
    for number, host in enumerate(hosts):
        job.tasks[number] = f"{host}:1"

    class Server:
        server_def, target = definition, f"grpc://{hosts[0]}:1"

    return Server()


def test_an_interface_by_name(monkeypatch):
    monkeypatch.setenv("TF_FRAME_LISTEN_ON", "lo")
    assert answers("127.0.0.1", start("127.0.0.1"))
    monkeypatch.setenv("TF_FRAME_LISTEN_ON", "wlan7")
    with pytest.raises(TfFrameError, match="TF_FRAME_LISTEN_ON=wlan7: .* there are .*lo"):
        start("127.0.0.1")


@pytest.mark.parametrize("family", [socket.AF_INET, socket.AF_INET6])
def test_who_connected_before_is_noticed(outer, family):
    with socket.socket(family) as listener:
        listener.bind(("", 0))
        listener.listen()
        port = listener.getsockname()[1]
        with socket.create_connection(("127.0.0.1" if family == socket.AF_INET else "::1", port)):
            assert all(address.is_loopback for address in listening._connected(port))
        with socket.create_connection((outer, port)) as stranger:
            assert outer in map(str, listening._connected(port))
            server = server_at("127.0.0.1")
            server.target = f"grpc://127.0.0.1:{port}"
            with pytest.raises(TfFrameError, match=f"connected to {outer}:{port} before"):
                listening.confine(server)
            stranger.close()


def test_a_kernel_that_refuses_is_warned_of(monkeypatch, caplog):
    server = server_at("127.0.0.1")
    server.target = f"grpc://127.0.0.1:{free_ports(1)[0]}"
    assert listening.confine(server) == ""
    assert "their socket was not found" in caplog.text
    monkeypatch.setattr(listening, "_OPTION", None)
    assert listening.confine(server) == ""
    assert "this system cannot bind sockets to an interface" in caplog.text


@pytest.mark.process
@pytest.mark.slow
def test_another_user_than_root_may_do_it(outer):
    done = forked.succeed([sys.executable, "-c", _AS_NOBODY, outer], stderr=subprocess.PIPE)
    assert done.stdout == "lo False\n"


_AS_NOBODY = """
import ctypes, os, socket, sys
import tensorflow.compat.v1 as tf
from tf_frame.cluster.listening import confine
if os.geteuid() == 0:
    os.setuid(65534)
    ctypes.CDLL(None).prctl(4, 1)  # PR_SET_DUMPABLE: else its files in /proc stay those of root.
server = tf.train.Server({"worker": ["127.0.0.1:0"]}, start=False)
where = confine(server)
with socket.socket() as client:
    client.settimeout(2)
    port = int(server.target.rpartition(":")[2])
    print(where, client.connect_ex((sys.argv[1], port)) == 0)
"""
