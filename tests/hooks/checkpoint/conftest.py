"""Hooks that write in a thread, and writing that fails."""

import pytest
import tensorflow.compat.v1 as tf

from tf_frame.checkpoint.write.folder import atomic_checkpoint
from tf_frame.hooks.checkpoint import CheckpointHook


@pytest.fixture
def fail_at(monkeypatch):
    """Makes the writing of a step's checkpoint fail when half of it is written."""

    def fail_at(step, *errors):
        left = list(errors)

        def write_or_fail(prefix, write, *, publish):
            def half(new):
                with tf.io.gfile.GFile(new + ".data-00000-of-00001", "w") as file:
                    file.write("half")
                raise left.pop(0)

            fails = left and prefix.endswith(f"-{step}")
            atomic_checkpoint(prefix, half if fails else write, publish=publish)

        monkeypatch.setattr("tf_frame.hooks.checkpoint.atomic_checkpoint", write_or_fail)

    return fail_at


def names(folder):
    return {path.name.split(".data")[0].removesuffix(".index") for path in folder.iterdir()}


@pytest.fixture
def asynchronous(tmp_path):
    return lambda graph, **options: CheckpointHook(
        str(tmp_path), graph.scaffold, asynchronous=True, **options
    )
