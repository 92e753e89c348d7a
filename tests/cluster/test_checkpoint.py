import pytest
import tensorflow.compat.v1 as tf

from tf_frame.checkpoint.find.newest import find_damage, listed_checkpoints, read_step
from tf_frame.graph.global_step import read_step_after
from tf_frame.hooks.checkpoint import CheckpointHook


@pytest.mark.slow
@pytest.mark.process
def test_variables_of_several_tasks_are_one_checkpoint(tmp_path, cluster):
    for sharded in (False, True):
        for asynchronous in (False, True):
            folder = tmp_path / f"{sharded}-{asynchronous}"
            said = train(folder, cluster[0], sharded=sharded, asynchronous=asynchronous)
            assert len(said) == (sharded and asynchronous)
            check(folder, shards=3 if sharded else 1)


def train(folder, target, *, sharded, asynchronous):
    """Trains 3 steps and saves every second one; returns what the hook said."""
    said = []
    tf.Session.reset(target)  # Else the variables of the run before are there still.
    with tf.Graph().as_default():
        with tf.device("/job:ps/task:0"):
            step = tf.train.create_global_step()
            there = tf.get_variable("there", [3], initializer=tf.zeros_initializer())
        with tf.device("/job:worker/task:0"):
            here = tf.get_variable("here", [2], initializer=tf.zeros_initializer())
            extra = tf.strings.as_string(here.read_value())
            moved = tf.group(there.assign_add([1.0] * 3), here.assign_add([1.0] * 2))
            with tf.control_dependencies([moved]):
                train_op = tf.group(step.assign_add(1))
        read_step_after([train_op], step)
        scaffold = tf.train.Scaffold(saver=tf.train.Saver(sharded=sharded))
        hook = CheckpointHook(
            str(folder),
            scaffold,
            every_steps=2,
            extras={"input_position/here": extra},
            asynchronous=asynchronous,
            report=said.append,
        )
        creator = tf.train.ChiefSessionCreator(scaffold, master=target)
        with tf.train.MonitoredSession(creator, hooks=[hook]) as session:
            for _ in range(3):
                session.run(train_op)
    return said


def check(folder, *, shards):
    paths = listed_checkpoints(str(folder))
    assert [read_step(path) for path in paths] == [0, 2, 3]
    for path in paths:
        value = float(read_step(path))
        assert find_damage(path) == ""
        assert tf.train.load_variable(path, "there").tolist() == [value] * 3
        assert tf.train.load_variable(path, "here").tolist() == [value] * 2
        texts = tf.train.load_variable(path, "input_position/here")
        assert [float(text) for text in texts] == [value] * 2
    assert len(list(folder.glob("model.ckpt-3.data-*"))) == shards
    assert not list(folder.glob("*.saving"))
