"""Runs of the toy model inside this process."""

import dataclasses

import pytest
import tensorflow.compat.v1 as tf

from tf_frame.plugin import Mode
from tf_frame.runs.setup.training_setup import TRAIN
from tf_frame.testing.toy import ToyInput, ToyModel, make_setup, run_setup


def train(folder, model=ToyModel, source=ToyInput, *, hooks=(), mode=TRAIN, lines, **options):
    """Trains the toy, or another model and input, in a folder; without evaluation by default."""
    if options.get("save_checkpoint_steps"):
        options["save_checkpoint_secs"] = None
    interrupts = options.pop("interrupts", None)
    setup = make_setup(model, source, str(folder), **{"evaluate": False, **options})
    setup = dataclasses.replace(setup, hooks=hooks, mode=mode)
    return run_setup(setup, report=lines.append, interrupts=interrupts)


@pytest.fixture
def go(tmp_path, capsys):
    """Trains in `tmp_path`, see `train`; returns result and reported lines."""

    def go(*plugins, lines=None, **options):
        lines = [] if lines is None else lines
        result = train(tmp_path, *plugins, lines=lines, **options)
        return result, "\n".join(lines)

    yield go
    tf.summary.FileWriterCache.clear()


@pytest.fixture
def other_run(tmp_path_factory):
    """Trains the toy model, or another model, in another folder; returns the folder."""

    def other_run(*plugins, **options):
        folder = tmp_path_factory.mktemp("other")
        train(folder, *plugins, lines=[], **options)
        return folder

    return other_run


class OneEpoch(ToyInput):
    def dataset(self, mode, context):
        return super().dataset(Mode.EVAL, context)
