"""`AttentionWrapper` against values and names that TensorFlow 1.15 recorded."""

import zlib

import numpy as np
import pytest
import tensorflow.compat.v1 as tf
from tensorflow.python.keras.layers.legacy_rnn import rnn_cell_impl

from tf_frame_legacy import layers
from tf_frame_legacy.contrib import seq2seq

pytestmark = pytest.mark.usefixtures("variable_mode")

MEMORY = np.random.RandomState(0).randn(2, 4, 3).astype(np.float32)
INPUTS = np.random.RandomState(1).randn(2, 2, 3).astype(np.float32)

PARTS = ("kernel", "bias")
RECORDED_OUTPUTS = [
    [1.34251, -1.56262, -0.454215, -1.26864, 0.0529542],
    [0.426911, -0.527745, -0.762086, -1.05667, -0.0525682],
]
RECORDED_ALIGNMENTS = [
    [[0.416987, 0.583013, 0.0, 0.0], [0.206754, 0.26698, 0.254919, 0.271347]],
    [[0.132339, 0.210964, 0.0, 0.0], [0.12071, 0.168173, 0.290487, 0.119776]],
]


def load(session):
    """Gives each variable values that depend on its name only."""
    for variable in tf.global_variables():
        random = np.random.RandomState(zlib.crc32(variable.op.name.encode()))
        variable.load(np.float32(random.randn(*variable.shape.as_list()) / 2), session)


def test_two_mechanisms_and_steps(graph):
    mechanisms = [
        seq2seq.BahdanauAttention(4, MEMORY, [2, 4], normalize=True),
        seq2seq.LuongMonotonicAttention(5, MEMORY, [2, 4]),
    ]
    cell = seq2seq.AttentionWrapper(
        rnn_cell_impl.MultiRNNCell([rnn_cell_impl.GRUCell(5), rnn_cell_impl.GRUCell(5)]),
        mechanisms,
        attention_layer_size=[3, 2],
        alignment_history=True,
    )
    state = cell.zero_state(2, tf.float32)
    tf.nest.assert_same_structure(cell.state_size, state)
    for inputs in INPUTS:
        outputs, state = cell(tf.constant(inputs), state)
    scope = "attention_wrapper"
    cells = f"{scope}/multi_rnn_cell/cell_0/gru_cell"
    assert [variable.op.name for variable in tf.global_variables()] == [
        "memory_layer/kernel",
        "memory_layer_1/kernel",
        *[f"{cells}/{name}/{part}" for name in ("gates", "candidate") for part in PARTS],
        *[
            f"{cells}/{name}/{part}".replace("cell_0", "cell_1")
            for name in ("gates", "candidate")
            for part in PARTS
        ],
        f"{scope}/bahdanau_attention/query_layer/kernel",
        f"{scope}/bahdanau_attention/attention_v",
        f"{scope}/bahdanau_attention/attention_g",
        f"{scope}/bahdanau_attention/attention_b",
        f"{scope}/attention_layer/kernel",
        f"{scope}/luong_monotonic_attention/attention_score_bias",
        f"{scope}/attention_layer_1/kernel",
    ]
    histories = [history.stack() for history in state.alignment_history]
    with tf.Session() as session:
        load(session)
        values = session.run([outputs, state.attention, state.time, state.alignments, histories])
    np.testing.assert_allclose(values[0], RECORDED_OUTPUTS, rtol=1e-4)
    np.testing.assert_array_equal(values[0], values[1])
    assert values[2] == 2
    for alignments, history, recorded in zip(*values[3:], RECORDED_ALIGNMENTS, strict=True):
        np.testing.assert_allclose(alignments, recorded, rtol=1e-4)
        np.testing.assert_array_equal(history[1], alignments)
        assert history.shape == (2, 2, 4)


def wrapper(cell=None, **kwargs):
    mechanism = seq2seq.LuongAttention(5, MEMORY)
    return seq2seq.AttentionWrapper(cell or rnn_cell_impl.LSTMCell(5), mechanism, **kwargs)


def test_initial_state_and_clones(graph):
    given = rnn_cell_impl.LSTMStateTuple(tf.ones([2, 5]), tf.zeros([2, 5]))
    state = wrapper(initial_cell_state=given).zero_state(2, tf.float32)
    assert type(state.cell_state) is rnn_cell_impl.LSTMStateTuple
    unknown = tf.placeholder(tf.float32, [None, 3])
    clone = state.clone(attention=unknown, cell_state=given)
    assert clone.cell_state is not state.cell_state
    assert clone.attention.shape.as_list() == [2, 3]
    with pytest.raises(ValueError, match="incompatible|compatible"):
        state.clone(attention=tf.zeros([2, 4]))
    with tf.Session() as session:
        assert session.run(state.cell_state.c).all()
        assert session.run(clone.attention, {unknown: np.ones([2, 3])}).all()
        with pytest.raises(tf.errors.InvalidArgumentError, match="another shape"):
            session.run(clone.attention, {unknown: np.ones([1, 3])})


def test_layers_and_functions(graph):
    """A layer of one's own, the context alone, and a function instead of the layer."""
    own = wrapper(attention_layer=layers.Dense(7, activation="tanh"))
    context = wrapper(output_attention=False)
    custom = wrapper(
        attention_layer_size=4,
        attention_fn=lambda mechanism, output, state, layer: (layer(output), state, state),
        cell_input_fn=lambda inputs, attention: attention,
    )
    assert (own.output_size, own.state_size.attention) == (7, 7)
    assert (context.output_size, context.state_size.attention) == (5, 3)
    assert custom.output_size == 4
    for cell, shape in ((own, [2, 7]), (context, [2, 5]), (custom, [2, 4])):
        with tf.variable_scope(None, "model"):
            outputs, state = cell(tf.constant(INPUTS[0]), cell.zero_state(2, tf.float32))
        assert outputs.shape.as_list() == shape
        assert state.alignment_history == ()
    kernel = [v for v in tf.trainable_variables() if "lstm_cell" in v.name and "kernel" in v.name]
    # Without the inputs, the last cell sees the attention and its own outputs.
    assert [v.shape.as_list()[0] for v in kernel] == [3 + 7 + 5, 3 + 3 + 5, 4 + 5]


def test_trainable_variables(graph):
    cell = wrapper(attention_layer_size=3)
    cell(tf.constant(INPUTS[0]), cell.zero_state(2, tf.float32))
    assert {v.op.name for v in cell.trainable_variables} >= {
        "attention_wrapper/lstm_cell/kernel",
        "attention_wrapper/lstm_cell/bias",
    }


def test_errors(graph):
    for kwargs, error, message in [
        ({"attention_layer_size": [1, 2]}, ValueError, "one element per"),
        ({"attention_layer_size": 1, "attention_layer": 2}, ValueError, "Only one of"),
        ({"cell_input_fn": 3}, TypeError, "cell_input_fn must be callable"),
        ({"cell": tf.nn.relu}, TypeError, "is not an RNNCell"),
    ]:
        with pytest.raises(error, match=message):
            wrapper(**kwargs)
    with pytest.raises(TypeError, match="must be an AttentionMechanism"):
        seq2seq.AttentionWrapper(rnn_cell_impl.LSTMCell(5), [tf.nn.relu])
    cell = wrapper()
    with pytest.raises(TypeError, match="instance of AttentionWrapperState"):
        cell(tf.constant(INPUTS[0]), tf.zeros([2, 5]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="tile_batch"):
        cell.zero_state(6, tf.float32)
