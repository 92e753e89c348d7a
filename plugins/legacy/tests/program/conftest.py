"""Runs small programs in this process, in a folder of their own."""

import sys

import pytest
import tensorflow.compat.v1 as tf

from tf_frame.errors import TfFrameError
from tf_frame_legacy.cli.run import main
from tf_frame_legacy.program import importing


class Programs:
    """Writes the files of a program, runs it and returns what it printed."""

    def __init__(self, folder, capfd):
        self.folder = folder
        self.capfd = capfd
        self.code = None

    def write(self, text, name="train.py"):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def run(self, *words):
        """The lines on standard output; those on standard error are in `errors`."""
        self.capfd.readouterr()
        with tf.Graph().as_default():
            try:
                self.code = main([str(word) for word in words])
            except TfFrameError as error:
                self.code = error.exit_code
                print(error, file=sys.stderr)
            except SystemExit as error:
                self.code = error.code
        out, self.errors = self.capfd.readouterr()
        return out.splitlines()

    def run_text(self, text, *options):
        return self.run(*options, self.write(text))


@pytest.fixture
def programs(tmp_path, monkeypatch, capfd):
    # The process of the tests has its own choice of variables, and keeps it.
    monkeypatch.setattr(importing, "_start_tensorflow", lambda resource_variables: None)
    monkeypatch.chdir(tmp_path)
    modules = set(sys.modules)
    yield Programs(tmp_path, capfd)
    for name in set(sys.modules) - modules:
        if str(tmp_path) in (getattr(sys.modules[name], "__file__", None) or ""):
            del sys.modules[name]
