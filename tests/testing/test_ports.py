import contextlib
import socket

import pytest

from tf_frame.launch import ports
from tf_frame.testing.ports import held_ports


def is_free(port):
    with contextlib.ExitStack() as stack:
        return ports._reserve(port, stack)


def test_a_port_that_is_held_refuses_connections_and_is_not_free():
    (holder,) = held_ports(1)
    port = holder.getsockname()[1]
    with holder:
        assert not is_free(port)
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", port))
    assert is_free(port)
