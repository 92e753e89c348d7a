"""Free ports: nothing listens there, and no outgoing connection gets them."""

import functools
import socket

import pytest

from tf_frame.errors import TfFrameError
from tf_frame.launch import ports


def test_ports_are_free_different_and_not_ephemeral():
    numbers = ports.free_ports(50)
    assert len(set(numbers)) == 50
    assert 20000 <= min(numbers) <= max(numbers) < ports._first_ephemeral()
    for port in numbers:
        with socket.socket() as server:
            server.bind(("", port))


def test_a_port_that_is_taken_is_not_free(monkeypatch):
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        listener = server.getsockname()[1]
        monkeypatch.setattr(ports, "_LOWEST", listener)
        monkeypatch.setattr(ports, "_first_ephemeral", lambda: listener + 1)
        with pytest.raises(TfFrameError, match="1 free TCP ports are needed"):
            ports.free_ports(1)


def test_reserved_ports_are_for_the_servers_of_one_job(monkeypatch):
    with ports.reserved_ports(1) as (port,):
        monkeypatch.setattr(ports, "_LOWEST", port)
        monkeypatch.setattr(ports, "_first_ephemeral", lambda: port + 1)
        with pytest.raises(TfFrameError, match="1 free TCP ports are needed"):
            ports.free_ports(1)
        connect = functools.partial(socket.create_connection, ("127.0.0.1", port))
        with pytest.raises(ConnectionRefusedError):
            connect()
        # Servers of TensorFlow set this option, too.
        with socket.create_server(("", port), reuse_port=False), connect():
            pass
    assert ports.free_ports(1) == [port]


def test_a_system_that_gives_low_ports_or_does_not_say(monkeypatch, tmp_path):
    monkeypatch.setattr(ports, "_EPHEMERAL_RANGE", tmp_path / "range")
    assert ports._first_ephemeral() == 32768
    (tmp_path / "range").write_text("1024\t60999\n")
    assert ports._first_ephemeral() == 32768
    (tmp_path / "range").write_text("40000\t60999\n")
    assert ports._first_ephemeral() == 40000
