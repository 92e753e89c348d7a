import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame.checkpoint.write.snapshot import ArrayWriter, GraphWriter, add_extras, find_shards


def variables():
    """Variables of several kinds, one of them in parts."""
    tf.get_variable("weights", initializer=tf.constant([[1.5, 2.5], [3.5, 4.5]]))
    tf.get_variable("count", initializer=tf.constant(9, tf.int64))
    tf.get_variable("half", initializer=tf.constant([0.5], tf.bfloat16))
    tf.get_variable(
        "parts",
        [5, 2],
        partitioner=tf.fixed_size_partitioner(2),
        initializer=tf.random_uniform_initializer(),
    )


@pytest.mark.usefixtures("variable_mode")
@pytest.mark.parametrize("sharded", [False, True])
@pytest.mark.parametrize("kind", ["graph", "arrays"])
def test_what_is_written_is_what_the_saver_would_write_and_can_restore(tmp_path, kind, sharded):
    path, stock = str(tmp_path / "model.ckpt-1"), str(tmp_path / "stock")
    with tf.Graph().as_default(), tf.Session() as session:
        variables()
        saver = tf.train.Saver(sharded=sharded)
        shards = find_shards(saver)
        write = GraphWriter(shards).write if kind == "graph" else None
        session.run(tf.global_variables_initializer())
        if write:
            write(session, path)
        else:
            ArrayWriter(shards[0]).write(session.run(list(shards[0].tensors)), path)
        values = session.run(tf.global_variables())
        saver.save(session, stock, write_state=False)
        session.run([v.assign(tf.zeros_like(v)) for v in tf.global_variables()])
        saver.restore(session, path)
        for restored, value in zip(session.run(tf.global_variables()), values, strict=True):
            np.testing.assert_array_equal(restored, value)
    assert tf.train.list_variables(path) == tf.train.list_variables(stock)
    assert ("parts", [5, 2]) in tf.train.list_variables(path)


@pytest.mark.process
def test_the_shards_of_several_devices_become_one_checkpoint(tmp_path):
    config = tf.ConfigProto(device_count={"CPU": 2})
    path = str(tmp_path / "model.ckpt-1")
    with tf.Graph().as_default(), tf.Session(config=config) as session:
        for index in range(2):
            with tf.device(f"/device:CPU:{index}"):
                tf.get_variable(f"weights_{index}", initializer=tf.constant([float(index)]))
        saver = tf.train.Saver(sharded=True)
        extras = {"input_position/state": tf.constant(b"here")}
        shards = add_extras(find_shards(saver), extras)
        writer = GraphWriter(shards)
        session.run(tf.global_variables_initializer())
        writer.write(session, path)
        saver.restore(session, path)
    assert len(shards) == len(list(tmp_path.glob("*.data-*"))) == 3
    assert tf.train.load_variable(path, "weights_1") == [1.0]
    assert tf.train.load_variable(path, "input_position/state") == b"here"
    assert not list(tmp_path.glob("*_temp"))


def test_arrays_of_text_are_written(tmp_path):
    path = str(tmp_path / "model.ckpt-1")
    with tf.Graph().as_default(), tf.Session() as session:
        variables()
        extras = {"one": tf.constant(b"\x00\xff"), "two": tf.constant([b"a", b"bc"])}
        (shard,) = add_extras(find_shards(tf.train.Saver()), extras)
        session.run(tf.global_variables_initializer())
        ArrayWriter(shard).write(session.run(list(shard.tensors)), path)
    assert tf.train.load_variable(path, "one") == b"\x00\xff"
    assert list(tf.train.load_variable(path, "two")) == [b"a", b"bc"]
