import socket

import pytest

from job import held
from tf_frame.launch import ports


def test_a_port_that_is_held_refuses_connections_and_is_not_free():
    (port,) = ports.free_ports(1)
    with held(port):
        assert not ports._is_free(port)
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", port))
    assert ports._is_free(port)
