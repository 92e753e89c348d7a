import socket

import pytest

from tf_frame.cluster.server import wait_for_server
from tf_frame.errors import TfFrameError
from tf_frame.testing.ports import free_ports


def test_a_server_that_listens_is_not_waited_for():
    said = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        target = f"grpc://127.0.0.1:{server.getsockname()[1]}"
        wait_for_server(target, timeout_secs=0, report=said.append, check=lambda: None)
    assert said == []


def test_a_server_that_comes_later_is_waited_for():
    (port,) = free_ports(1)
    said, servers = [], []

    def come():
        servers.append(socket.create_server(("127.0.0.1", port)))

    try:
        wait_for_server(f"grpc://127.0.0.1:{port}", timeout_secs=60, report=said.append, check=come)
    finally:
        servers[0].close()
    assert said == [f"waiting for the server at grpc://127.0.0.1:{port} ..."]


def test_a_server_that_never_comes_is_an_error():
    (port,) = free_ports(1)
    with pytest.raises(TfFrameError, match=f"no server listens at grpc://127.0.0.1:{port}"):
        wait_for_server(
            f"grpc://127.0.0.1:{port}", timeout_secs=0, report=print, check=lambda: None
        )


def test_waiting_can_be_given_up():
    (port,) = free_ports(1)

    def give_up():
        raise KeyError("enough")

    with pytest.raises(KeyError, match="enough"):
        wait_for_server(f"grpc://127.0.0.1:{port}", timeout_secs=60, report=print, check=give_up)
