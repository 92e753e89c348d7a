import pytest
import tensorflow.compat.v1 as tf

from tf_frame import layers
from tf_frame.graph import variable_handles
from tf_frame.graph.graph_edits import ancestors
from tf_frame.graph.variable_handles import merge_variable_handles


def build(*devices):
    """A step of layers with batch norm on CPUs; returns the train op."""
    net = tf.random.stateless_normal([8, 3], [1, 2])
    for device in devices:
        with tf.device(device):
            net = tf.nn.relu(layers.fully_connected(net, 4, normalizer_fn=layers.batch_norm))
    optimizer = tf.train.MomentumOptimizer(0.1, 0.9)
    update = optimizer.minimize(tf.reduce_mean(tf.square(net - 1.0)))
    return tf.group(update, *tf.get_collection(tf.GraphKeys.UPDATE_OPS))


def types(end):
    return [op.type for op in ancestors([end])]


def trained(*devices, merges):
    """Returns name -> bytes of all variables after three steps, and the types of the step."""
    with tf.Graph().as_default():
        tf.set_random_seed(1)
        step = build(*devices)
        merged = merge_variable_handles([step]) if merges else 0
        config = tf.ConfigProto(device_count={"CPU": 2})
        with tf.Session(config=config) as session:
            session.run(tf.global_variables_initializer())
            for _ in range(3):
                session.run(step)
            values = {v.op.name: session.run(v).tobytes() for v in tf.global_variables()}
        return values, types(step), merged


@pytest.mark.parametrize("devices", [("", ""), ("/cpu:0", "/cpu:1")])
def test_one_operation_for_each_device_returns_the_handles_of_a_step(devices):
    plain, before, _ = trained(*devices, merges=False)
    values, after, merged = trained(*devices, merges=True)
    assert values == plain
    assert merged == before.count("VarHandleOp") > 10
    assert after.count("VarHandleOp") == 0
    assert after.count("_VarHandlesOp") == len(set(devices))
    assert len(after) == len(before) - merged + len(set(devices))


def test_other_operations_keep_their_handles():
    with tf.Graph().as_default():
        step = build("")
        other = tf.trainable_variables()[0].assign_add(tf.ones([3, 4]))
        merge_variable_handles([step])
        assert types(other).count("VarHandleOp") == 1
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            before = session.run(tf.trainable_variables()[0])
            session.run(other)
            assert (session.run(tf.trainable_variables()[0]) == before + 1).all()


def test_nothing_is_merged_without_the_operation_or_variables(monkeypatch, variable_mode):
    with tf.Graph().as_default():
        assert merge_variable_handles([tf.constant(1)]) == 0
        step = build("")
        monkeypatch.setattr(variable_handles, "_MERGED", "_NoSuchOp")
        before = types(step)
        assert merge_variable_handles([step]) == 0 and types(step) == before
