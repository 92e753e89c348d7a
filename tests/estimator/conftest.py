"""Event files are closed after each test of this folder."""

import pytest
import tensorflow.compat.v1 as tf


@pytest.fixture(autouse=True)
def closed_writers():
    yield
    tf.summary.FileWriterCache.clear()
