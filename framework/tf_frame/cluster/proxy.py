"""Keeps what the tasks of a job send each other away from the HTTP proxy of the environment."""

from __future__ import annotations

import os
from collections.abc import Iterable

_FOR_ALL = ("https_proxy", "http_proxy")
# gRPC reads the first of these that is set; tools for the web read the second.
_EXCEPT, _EXCEPT_FOR_ALL = "no_grpc_proxy", "no_proxy"
_FOR_GRPC = "grpc_proxy"


def reach_directly(addresses: Iterable[str]) -> None:
    """Makes gRPC connect this process with the tasks of its job without a proxy.

    It would ask the proxy that is set for the web, which does not pass such connections on, and
    try again for ever without a message. A proxy that `grpc_proxy` names is wanted, and stays.

    Args:
      addresses: `HOST:PORT` of each task.
    """
    if os.environ.get(_FOR_GRPC) or not any(os.environ.get(name) for name in _FOR_ALL):
        return
    known = os.environ.get(_EXCEPT, os.environ.get(_EXCEPT_FOR_ALL, ""))
    hosts = [address.rpartition(":")[0].strip("[]") for address in addresses]
    names = dict.fromkeys(name for name in [*known.split(","), *hosts] if name)
    os.environ[_EXCEPT] = ",".join(names)
