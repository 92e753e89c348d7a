import pytest

import faulty_server
from tf_frame.weights import download


@pytest.fixture
def server(monkeypatch):
    """A server on loopback, which no proxy of the environment hides; tries follow without pause."""
    monkeypatch.setattr(download, "_PAUSE_SECS", 0.0)
    for name in ("http_proxy", "HTTP_PROXY", "no_proxy", download.OFFLINE):
        monkeypatch.delenv(name, raising=False)
    with faulty_server.serving() as server:
        yield server
