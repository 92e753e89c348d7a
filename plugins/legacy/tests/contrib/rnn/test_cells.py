"""Properties of the cells that no recorded value shows."""

import importlib
import inspect
import logging

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from sessions import initialized_session, run_initialized
from tf_frame import layers
from tf_frame_legacy.contrib import rnn

SERIES = np.random.RandomState(0).normal(size=[2, 3, 4]).astype(np.float32)


def test_tensorflow_still_has_its_cells():
    """The day that this fails, tf_frame_legacy.contrib.rnn.core needs cells of its own."""
    legacy_rnn = "tensorflow.python.keras.layers.legacy_rnn.rnn_cell_impl"
    assert rnn.RNNCell is importlib.import_module(legacy_rnn).RNNCell
    with pytest.raises(AttributeError, match="not available with Keras 3"):
        _ = tf.nn.rnn_cell.BasicLSTMCell


def test_nothing_advises_to_use_keras(graph, recwarn, caplog):
    cells = [rnn.BasicLSTMCell(3), rnn.LSTMCell(3), rnn.GRUCell(3), rnn.BasicRNNCell(3)]
    with caplog.at_level(logging.WARNING, logger="tensorflow"):
        cell = rnn.MultiRNNCell(cells)
        cell(tf.constant(SERIES[:, 0]), cell.zero_state(2, tf.float32))
    assert not recwarn.list and not caplog.records


def test_all_functions_that_unroll_agree(graph):
    """dynamic_rnn, static_rnn and raw_rnn with the same cell."""
    cell = rnn.MultiRNNCell([rnn.LSTMBlockCell(3), rnn.GRUCell(2)])
    inputs = tf.constant(SERIES)
    steps = tf.unstack(inputs, axis=1)
    with tf.variable_scope("shared"):
        static, _ = rnn.static_rnn(cell, steps, dtype=tf.float32, scope=tf.get_variable_scope())

    def loop(time, output, state, _):
        state = cell.zero_state(2, tf.float32) if output is None else state
        ended = tf.fill([2], time >= 3)
        return ended, tf.stack(steps)[tf.minimum(time, 2)], state, output, None

    raw, _, _ = tf.nn.raw_rnn(cell, loop, scope=tf.VariableScope(True, "shared"))
    dynamic, _ = tf.nn.dynamic_rnn(cell, inputs, dtype=tf.float32)
    values = run_initialized([tf.stack(static), raw.stack(), rnn.transpose_batch_time(dynamic)])
    assert len(tf.trainable_variables()) == 6
    np.testing.assert_allclose(values[1], values[0], rtol=1e-5)
    np.testing.assert_allclose(values[2], values[0], rtol=1e-5)


class Same(rnn.RNNCell):
    """A cell of a program, which returns its inputs."""

    state_size = output_size = 4

    def call(self, inputs, state):
        return inputs, state + inputs


def test_variational_dropout_drops_the_same_in_every_step(graph):
    options = {
        "variational_recurrent": True,
        "dtype": tf.float32,
        "input_size": tf.TensorShape([4]),
    }
    wrapped = rnn.DropoutWrapper(Same(), 0.5, 0.5, seed=3, **options)
    plain = rnn.DropoutWrapper(Same(), output_keep_prob=0.5, seed=3)
    ones = tf.ones([100, 3, 4])
    outputs = [tf.nn.dynamic_rnn(cell, ones, dtype=tf.float32)[0] for cell in (wrapped, plain)]
    same, other = run_initialized(outputs)
    assert (same == same[:1, :1]).all() and set(np.unique(same)) <= {0, 2, 4}
    assert set(np.unique(other)) == {0, 2} and np.mean(other) == pytest.approx(1, abs=0.15)
    assert (other != other[:1, :1]).any()


class Normalized(rnn.RNNCell):
    """A cell of a program, with another cell and a function of slim."""

    state_size = output_size = 3

    def call(self, inputs, state):
        outputs, state = rnn.UGRNNCell(3)(inputs, state)
        return layers.layer_norm(outputs, scope="norm"), state


def test_cells_of_programs_may_use_slim(graph):
    cell = Normalized()
    with layers.arg_scope([layers.layer_norm], center=False):
        outputs, _ = tf.nn.dynamic_rnn(cell, tf.constant(SERIES), dtype=tf.float32)
    names = [v.op.name for v in cell.trainable_variables]
    assert names == [
        f"rnn/normalized/{n}" for n in ("ugrnn_cell/kernel", "ugrnn_cell/bias", "norm/gamma")
    ]
    np.testing.assert_allclose(run_initialized(outputs).mean(2), 0, atol=1e-5)


def test_layer_norm_basic_lstm_cell_drops_its_new_input(graph):
    cell = rnn.LayerNormBasicLSTMCell(500, layer_norm=False, dropout_keep_prob=0.25)
    (_, state) = cell(tf.ones([4, 3]), cell.zero_state(4, tf.float32))
    values = run_initialized(state.c)
    assert np.mean(values != 0) == pytest.approx(0.25, abs=0.05)


def test_initial_values_of_phased_lstm_cell(graph):
    cell = rnn.PhasedLSTMCell(
        200, period_init_min=2.0, period_init_max=8.0, trainable_ratio_on=False
    )
    cell((tf.ones([2, 1]), tf.ones([2, 3])), cell.zero_state(2, tf.float32))
    values = {v.op.name.rpartition("/")[2]: v for v in tf.global_variables()}
    values = run_initialized(values)
    assert 2 <= values["period"].min() < 2.2 and 7.5 < values["period"].max() <= 8
    assert np.median(values["period"]) == pytest.approx(4, abs=0.6)
    assert (values["phase"] >= 0).all() and values["phase"].max() <= 8
    assert [v for v in tf.trainable_variables() if "ratio_on" in v.name] == []


def test_compiled_wrapper_marks_operations_without_state(graph):
    cell = rnn.CompiledWrapper(rnn.GRUCell(3))
    cell(tf.ones([2, 3]), tf.random_uniform([2, 3]))
    marked = {op.type for op in graph.get_operations() if op.node_def.attr["_XlaCompile"].b}
    assert "MatMul" in marked and "Sigmoid" in marked
    assert not marked & {"VarHandleOp", "VariableV2", "RandomUniform"}


REFUSED = {
    "at least one cell for": lambda: rnn.MultiRNNCell([]),
    "state_is_tuple": lambda: rnn.MultiRNNCell([rnn.LSTMCell(2)], state_is_tuple=False),
    "flag state_is_tuple": lambda: rnn.AttentionCellWrapper(
        rnn.LSTMCell(2), 2, state_is_tuple=False
    ),
    "attn_length": lambda: rnn.AttentionCellWrapper(rnn.GRUCell(2), 0),
    "embedding_size": lambda: rnn.EmbeddingWrapper(rnn.GRUCell(2), 3, 0),
    "output_size": lambda: rnn.OutputProjectionWrapper(rnn.GRUCell(2), 0),
    "Exactly one": lambda: rnn.GRUBlockCell(2, cell_size=2),
    "num_units must be divisible": lambda: rnn.GLSTMCell(3, number_of_groups=2),
    "Invalid input_shape": lambda: rnn.ConvLSTMCell(2, [3, 1], 2, [3, 3]),
    "num_frequency_blocks": lambda: rnn.GridLSTMCell(2),
    "num_in_proj": lambda: rnn.IntersectionRNNCell(3)(tf.ones([1, 2]), tf.ones([1, 3])),
    "Too many shards": lambda: rnn.TimeFreqLSTMCell(1, num_unit_shards=9, feature_size=2)(
        tf.ones([1, 2]), tf.ones([1, 2])
    ),
    "linear is expecting 2D": lambda: rnn._linear(tf.ones([2, 2, 2]), 3, True),
    "`args` must be specified": lambda: rnn._Linear([], 3, True),
    "infer input size": lambda: rnn.UGRNNCell(2)(tf.placeholder(tf.float32), tf.ones([1, 2])),
    "Either initial_state or dtype": lambda: rnn.LSTMBlockFusedCell(2)(tf.ones([1, 2, 3])),
    "at least one fw": lambda: rnn.stack_bidirectional_rnn([], [], []),
    "same depth": lambda: rnn.stack_bidirectional_rnn([Same()], [Same()] * 2, []),
    "lists of state": lambda: rnn.stack_bidirectional_rnn([Same()], [Same()], [], [1, 2]),
}


@pytest.mark.parametrize("message", REFUSED)
def test_wrong_arguments_are_refused(message, graph):
    with pytest.raises(ValueError, match=message):
        REFUSED[message]()


def test_wrappers_take_cells_only(graph):
    for wrapper in (rnn.InputProjectionWrapper, rnn.DropoutWrapper, rnn.ResidualWrapper):
        with pytest.raises(TypeError, match="is not an RNNCell"):
            wrapper("cell", 1)
    assert rnn._like_rnncell(Same()) and not rnn._like_rnncell("cell")


@pytest.mark.slow
def test_a_list_of_steps_stays_a_list(graph):
    cell = rnn.LSTMBlockFusedCell(2)
    series = list(tf.unstack(tf.constant(SERIES), axis=1))
    outputs, _ = cell(series, dtype=tf.float32)
    both, _ = rnn.FusedRNNCellAdaptor(rnn.GRUCell(2), True)(series, dtype=tf.float32)
    whole, _ = cell(tf.stack(series), dtype=tf.float32)
    assert isinstance(outputs, list) and isinstance(both, list) and len(both) == 3
    with initialized_session() as session:
        np.testing.assert_array_equal(*session.run([outputs, whole]))


@pytest.mark.parametrize("name", ["BasicRNNCell", "GRUCell", "BasicLSTMCell", "LSTMCell"])
def test_programs_may_ask_for_the_arguments_of_a_cell(name):
    arguments = inspect.getfullargspec(getattr(rnn, name).__init__).args
    assert arguments[:2] == ["self", "num_units"]
    assert {"activation", "reuse"} <= set(arguments)
