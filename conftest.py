"""Imports TensorFlow once and quietly, so that the output of the tests stays readable."""

import os

from tf_frame.cli.quiet import quiet_tensorflow, without_chatter

before = dict(os.environ)
quiet_tensorflow(None)
with without_chatter(None):
    import tensorflow  # noqa: F401
# Processes that tests start shall be as a user's.
os.environ.clear()
os.environ.update(before)
