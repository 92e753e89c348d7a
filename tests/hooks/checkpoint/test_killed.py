"""A process that is killed while it writes a checkpoint."""

import os
import signal
import subprocess
import sys
import time

import pytest
import tensorflow.compat.v1 as tf

import forked
from tf_frame.checkpoint.find.newest import listed_checkpoints, newest_checkpoint

from .conftest import names

KILLED = """
import os, signal, sys
import tensorflow.compat.v1 as tf
from tf_frame.checkpoint.write.snapshot import ArrayWriter
from tf_frame.config.run_options import RunOptions
from tf_frame.hooks.checkpoint import CheckpointHook
from tf_frame.hooks.stock.stop_at_step import StopAtStepHook
from tf_frame.testing.toy import build_toy_graph
folder, when = sys.argv[1:]
rename, write, renames = tf.io.gfile.rename, ArrayWriter.write, []
def kill():
    os.kill(os.getpid(), signal.SIGKILL)
def counted(*names, **options):
    rename(*names, **options)
    renames.append(names)
    # Two files and the list for each checkpoint: the first of the third one is the seventh.
    if when == "between the files" and len(renames) == 7:
        kill()
def written(self, values, prefix):
    write(self, values, prefix)
    if when == "before they are in place" and prefix.endswith("-4"):
        kill()
tf.io.gfile.rename, ArrayWriter.write = counted, written
graph = build_toy_graph(RunOptions(train_batch_size=8))
with graph.graph.as_default():
    hook = CheckpointHook(folder, graph.scaffold, every_steps=2, asynchronous=True)
    with tf.train.MonitoredSession(tf.train.ChiefSessionCreator(graph.scaffold), hooks=[hook]) as s:
        while True:
            s.run(graph.train_op)
"""


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.parametrize(
    "when", [pytest.param("before they are in place", marks=pytest.mark.slow), "between the files"]
)
def test_killed_while_the_thread_writes_the_run_goes_on_from_the_one_before(
    tmp_path, asynchronous, build, train, when
):
    killed = forked.run(
        [sys.executable, "-c", KILLED, str(tmp_path), when], stderr=subprocess.DEVNULL
    )
    assert killed.returncode == -signal.SIGKILL
    assert newest_checkpoint(str(tmp_path)) == str(tmp_path / "model.ckpt-2")
    assert (tmp_path / "model.ckpt-4.saving").is_dir()
    graph = build()
    assert train(graph, [asynchronous(graph, every_steps=9)], to=5) == 3
    assert names(tmp_path) == {"checkpoint", *(f"model.ckpt-{step}" for step in (0, 2, 5))}


BIG = """
import sys
import tensorflow.compat.v1 as tf
from tf_frame.hooks.checkpoint import CheckpointHook
tf.disable_eager_execution()
step = tf.train.create_global_step().assign_add(1)
tf.get_variable("big", [16, 1024, 1024], initializer=tf.ones_initializer())
scaffold = tf.train.Scaffold(saver=tf.train.Saver())
hook = CheckpointHook(sys.argv[1], scaffold, every_steps=1, max_to_keep=2, asynchronous=True)
with tf.train.MonitoredSession(tf.train.ChiefSessionCreator(scaffold), hooks=[hook]) as session:
    while True:
        session.run(step)
"""


@pytest.mark.slow
@pytest.mark.process
def test_killed_in_the_middle_of_a_big_file_the_newest_is_whole(tmp_path):
    command = [sys.executable, "-c", BIG, str(tmp_path)]
    writing = forked.Popen(command, stderr=subprocess.DEVNULL)
    try:
        # Until the second one is listed and a later one is being written.
        while len(listed_checkpoints(str(tmp_path))) < 2 or not list(tmp_path.glob("*.saving/*")):
            assert writing.poll() is None
            time.sleep(0.001)
    finally:
        os.kill(writing.pid, signal.SIGKILL)
        writing.wait()
    path = newest_checkpoint(str(tmp_path))
    assert path in listed_checkpoints(str(tmp_path))
    assert int(tf.train.load_variable(path, "global_step")) == int(path.rsplit("-")[-1]) >= 1
    assert (tf.train.load_variable(path, "big") == 1).all()
