"""One operation for the handles of the variables of a step."""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame.graph.graph_edits import ancestors
from tf_frame.graph.shared_handles import share_handles

TWO_DEVICES = tf.ConfigProto(device_count={"CPU": 2})


def build(resource=True, devices=("", "")):
    """Returns loss, train op and saver of two layers, with slots; one layer on each device."""
    with tf.variable_scope("", use_resource=resource, initializer=tf.ones_initializer()):
        hidden = tf.constant([[1.0, 2.0]])
        for k, device in enumerate(devices):
            with tf.device(device):
                hidden = tf.tanh(hidden @ tf.get_variable(f"w{k}", [2, 2]) / 3)
        loss = tf.reduce_sum(hidden)
        step = tf.train.get_or_create_global_step()
        train_op = tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss, step)
    return loss, train_op, tf.train.Saver()


def types(train_op):
    found = [op.type for op in ancestors([train_op])]
    return {name: found.count(name) for name in ("VarHandleOp", "_VarHandlesOp", "VariableV2")}


def train(train_op, saver, path, steps=3):
    """Returns all variables after the steps; the last ones follow a restored checkpoint."""
    with tf.Session(config=TWO_DEVICES) as session:
        session.run(tf.global_variables_initializer())
        for _ in range(steps - 1):
            session.run(train_op)
        saver.save(session, path)
    with tf.Session(config=TWO_DEVICES) as session:
        saver.restore(session, path)
        session.run(train_op)
        return session.run({v.name: v for v in tf.global_variables()})


@pytest.mark.parametrize(
    ("devices", "operations"), [(("", ""), 1), (("/device:CPU:0", "/device:CPU:1"), 3)]
)
def test_a_step_takes_all_handles_from_one_operation_of_their_device(tmp_path, devices, operations):
    results = []
    for shares in (False, True):
        with tf.Graph().as_default():
            _, train_op, saver = build(devices=devices)
            assert types(train_op) == {"VarHandleOp": 5, "_VarHandlesOp": 0, "VariableV2": 0}
            if shares:
                share_handles(train_op)
                # The global step is on no device.
                assert types(train_op)["_VarHandlesOp"] == operations
                assert types(train_op)["VarHandleOp"] == 0
            names = [variable.op.name for variable in tf.global_variables()]
            assert names == ["w0", "w1", "global_step", "w0/Momentum", "w1/Momentum"]
            results.append(train(train_op, saver, str(tmp_path / "model")))
    before, after = results
    for name, value in before.items():
        np.testing.assert_array_equal(value, after[name], strict=True)
    assert before["global_step:0"] == 3


def test_reference_variables_stay_as_they_are():
    with tf.Graph().as_default() as graph:
        _, train_op, _ = build(resource=False)
        definition = graph.as_graph_def()
        share_handles(train_op)
        assert types(train_op) == {"VarHandleOp": 0, "_VarHandlesOp": 0, "VariableV2": 5}
        assert graph.as_graph_def() == definition


def test_a_graph_with_shared_handles_can_be_imported():
    with tf.Graph().as_default() as graph:
        loss, train_op, _ = build()
        share_handles(train_op)
        name = tf.global_variables_initializer().name
        definition = graph.as_graph_def()
    with tf.Graph().as_default(), tf.Session() as session:
        tf.import_graph_def(definition, name="")
        session.run(name)
        first = session.run(loss.name)
        session.run(train_op.name)
        assert session.run(loss.name) < first
