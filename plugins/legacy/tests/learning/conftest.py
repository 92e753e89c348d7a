"""A training of slim, its log and its clock."""

import logging

import pytest

from tf_frame_legacy import learning
from tf_frame_legacy.learning import services

from ..runs import square_train_op


def make_train_op(loss=None, **kwargs):
    return square_train_op(learning.create_train_op, loss, **kwargs)


@pytest.fixture
def log(caplog):
    with caplog.at_level(logging.INFO, "tensorflow"):
        yield caplog


@pytest.fixture
def clock(monkeypatch):
    """Stands in for the clock of the services; goes on by `clock.tick` a look."""

    class Clock:
        now, tick = 1000.0, 0.0

        @classmethod
        def monotonic(cls):
            cls.now += cls.tick
            return cls.now

    monkeypatch.setattr(services, "time", Clock)
    return Clock
