"""Modules that write, read files or look at the machine: summary, framework, tfprof, Keras."""

import glob

import numpy as np
import pytest
import tensorflow.compat.v1 as tf
from tensorflow.python.ops import summary_ops_v2 as contrib_summary

from tf_frame_legacy import keras_backend, plain
from tf_frame_legacy.contrib import data, framework, memory_stats, nccl, tfprof


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def scalars(folder):
    """(step, tag, value) of the summaries in a folder's event files."""
    return [
        (event.step, value.tag, value.simple_value)
        for path in glob.glob(f"{folder}/events*")
        for event in tf.train.summary_iterator(path)
        for value in event.summary.value
    ]


def test_summary_ops_of_every_second_step(tmp_path):
    step = tf.train.get_or_create_global_step()
    writer = contrib_summary.create_file_writer(str(tmp_path))
    with writer.as_default(), contrib_summary.record_summaries_every_n_global_steps(2):
        contrib_summary.scalar("loss", tf.cast(step, tf.float32) / 2)
    with writer.as_default(), contrib_summary.always_record_summaries():
        contrib_summary.scalar("always", 3.0, step=step + 10)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        with writer.as_default():
            contrib_summary.initialize(session=session)
        for _ in range(3):
            session.run(contrib_summary.all_v2_summary_ops())
            session.run(tf.assign_add(step, 1))
        session.run(contrib_summary.flush(writer))
    assert sorted(scalars(tmp_path)) == [
        (0, "loss", 0.0),
        (2, "loss", 1.0),
        (10, "always", 3.0),
        (11, "always", 3.0),
        (12, "always", 3.0),
    ]


def test_checkpoints(tmp_path):
    tf.get_variable("b", initializer=[1.0, 2.0])
    tf.get_variable("a", initializer=3)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        tf.train.Saver().save(session, str(tmp_path / "model"))
    assert framework.list_variables(str(tmp_path)) == [("a", []), ("b", [2])]
    assert framework.load_variable(str(tmp_path), "b:0").tolist() == [1.0, 2.0]
    with pytest.raises(ValueError, match="checkpoint"):
        framework.load_checkpoint(str(tmp_path / ".."))


def test_checks_of_tensors(graph):
    with pytest.raises(ValueError, match=r"expected \[2\], got \(3,\)"):
        framework.with_shape([2], tf.constant([1, 2, 3]))
    unknown = tf.placeholder(tf.float32, None)
    assert framework.with_shape([None, 2][1:] * 2, unknown).shape.as_list() == [2, 2]
    checked = framework.with_shape(tf.placeholder_with_default([1, 2], [2]), unknown)
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError):
        session.run(checked, {unknown: [1.0]})
    with pytest.raises(ValueError, match="Expected integer type"):
        framework.assert_scalar_int(tf.constant(1.5))
    with pytest.raises(TypeError, match="args must be list"):
        framework.py_func(lambda: None, args={}, output_types=tf.int64)
    assert framework.get_placeholders(graph)[0] is unknown
    assert framework.get_graph_from_inputs([1, unknown]) is graph
    with tf.Graph().as_default(), pytest.raises(ValueError, match="not from the passed-in graph"):
        framework.get_graph_from_inputs([unknown, tf.constant(1)])
    with tf.name_scope("inner"):
        assert framework.get_name_scope() == "inner"


def test_read_batch_features(tmp_path):
    with tf.python_io.TFRecordWriter(str(tmp_path / "records")) as writer:
        for n in range(5):
            example = tf.train.Example()
            example.features.feature["n"].int64_list.value.append(n)
            writer.write(example.SerializeToString())
    features = {"n": tf.FixedLenFeature([], tf.int64)}
    batch = data.read_batch_features(
        str(tmp_path / "records"), 2, features, randomize_input=False, num_epochs=1
    )
    with tf.Session() as session:
        assert session.run(batch)["n"].tolist() == [0, 1]
        assert session.run(batch)["n"].tolist() == [2, 3]


def test_model_analysis_counts_parameters(graph, capfd):
    tf.get_variable("kernel", [3, 4])
    tf.get_variable("steps", [5], trainable=False)
    tf.matmul(tf.ones([2, 3]), tf.trainable_variables()[0])
    analysis = tfprof.print_model_analysis(
        graph, tfprof_options=tfprof.TRAINABLE_VARS_PARAMS_STAT_OPTIONS
    )
    assert analysis.total_parameters == 12
    assert "kernel (3x4, 12/12 params)" in capfd.readouterr().out
    operations = tfprof.print_model_analysis(
        graph, tfprof_options={**tfprof.FLOAT_OPS_OPTIONS, "output": "none"}
    )
    assert operations.total_float_ops >= 2 * 2 * 3 * 4


def test_memory_of_processors_is_0():
    with tf.device("/cpu:0"):
        values = [
            memory_stats.BytesInUse(),
            memory_stats.MaxBytesInUse(),
            memory_stats.BytesLimit(),
        ]
    with tf.Session() as session:
        assert session.run(values) == [0, 0, 0]


def test_reductions_over_devices():
    x = tf.placeholder(tf.float32, [2])
    tensors = []
    for number in range(2):
        with tf.device(f"/device:CPU:{number}"):
            tensors.append(x * (number + 2.0))
    sums = nccl.all_sum(tensors)
    assert [total.device for total in sums] == ["/device:CPU:0", "/device:CPU:1"]
    others = [nccl.all_prod(tensors), nccl.all_min(tensors), nccl.all_max(tensors)]
    gradients = tf.gradients(sums[0], x)
    config = tf.ConfigProto(device_count={"CPU": 2})
    with tf.Session(config=config) as session:
        values = session.run(
            [sums, others, nccl.reduce_sum(tensors), nccl.broadcast(x), gradients],
            {x: [1.0, -2.0]},
        )
    np.testing.assert_allclose(values[0], [[5, -10]] * 2)
    np.testing.assert_allclose(values[1], [[[6, 24]] * 2, [[2, -6]] * 2, [[3, -4]] * 2])
    np.testing.assert_allclose(values[2], [5, -10])
    np.testing.assert_allclose(values[3], [1, -2])
    np.testing.assert_allclose(values[4], [[5, 5]])
    with pytest.raises(ValueError, match=">0 tensors"):
        nccl.all_sum([])


def test_the_session_of_keras(caplog):
    variable = tf.get_variable("x", initializer=2.0)
    session = keras_backend.get_session()
    assert session.run(variable) == 2.0
    session.run(variable.assign(3.0))
    assert keras_backend.get_session().run(variable) == 3.0
    with tf.Session() as other:
        keras_backend.set_session(other)
        assert keras_backend.get_session() is other
    keras_backend.set_session(None)
    keras_backend.set_learning_phase(0)
    assert keras_backend.learning_phase() == 0
    assert not caplog.text
    keras_backend.set_learning_phase(1)
    assert "call them with training=True" in caplog.text
    with pytest.raises(ValueError, match="to be 0 or 1"):
        keras_backend.set_learning_phase(2)


def test_plain_names():
    matrices = np.arange(12, dtype=np.float32).reshape(2, 2, 3)
    with tf.Session() as session:
        products = session.run(plain.batch_matmul(matrices, matrices, adj_y=True))
    np.testing.assert_allclose(products, matrices @ matrices.transpose(0, 2, 1))
    shapes = [plain.scalar(), plain.vector(3), plain.matrix(2, None)]
    assert [shape.as_list() for shape in shapes] == [[], [3], [2, None]]
    assert plain.RegisterShape("MyOp")(plain.scalar) is plain.scalar


def test_variables_come_from_their_protos():
    for use_resource in (False, True):
        with tf.Graph().as_default() as graph:
            variable = tf.get_variable("x", [2], use_resource=use_resource)
            proto = variable.to_proto()
            again = plain.variable_from_proto(proto)
            assert again.op is variable.op
            assert graph.get_operation_by_name("x") is again.op
