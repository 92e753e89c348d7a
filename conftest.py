"""Imports TensorFlow once and quietly, so that the output of the tests stays readable."""

import os

import pytest

from tf_frame.cli.screen import quiet_tensorflow, without_chatter

before = dict(os.environ)
quiet_tensorflow(None)
with without_chatter(None):
    import tensorflow  # noqa: F401
# Processes that tests start shall be as a user's.
os.environ.clear()
os.environ.update(before)


@pytest.fixture(autouse=True)
def log_level():
    """Takes back the level that a command in this process sets, for processes of later tests."""
    yield
    os.environ.pop("TF_CPP_MIN_LOG_LEVEL", None)
    os.environ.update({k: v for k, v in before.items() if k == "TF_CPP_MIN_LOG_LEVEL"})


@pytest.fixture
def unoptimized(monkeypatch):
    """Makes runs take their graphs as they are: rewriting one for speed outlasts a few steps."""
    from tf_frame.estimator.training import train

    configured = train.session_config

    def without_rewriting(*args):
        config = configured(*args)
        config.graph_options.rewrite_options.disable_meta_optimizer = True
        return config

    monkeypatch.setattr(train, "session_config", without_rewriting)
