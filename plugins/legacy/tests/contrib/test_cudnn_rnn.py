"""The layers equal their equations in NumPy, and the cells that a checkpoint of theirs fits."""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from sessions import initialized_session, run_initialized
from slow_cases import slow
from tf_frame_legacy.contrib import cudnn_rnn, rnn

RANDOM = np.random.RandomState(0)
SERIES = RANDOM.normal(size=[5, 3, 4]).astype(np.float32)
LENGTHS = np.array([5, 2, 4])
UNITS = 3


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def lstm(w, x, h, c):
    i, j, f, o = np.split(np.append(x, h) @ w["kernel"] + w["bias"], 4)
    c = sigmoid(f) * c + sigmoid(i) * np.tanh(j)
    return sigmoid(o) * np.tanh(c), c


def gru(w, x, h):
    r, u = np.split(sigmoid(np.append(x, h) @ w["gates/kernel"] + w["gates/bias"]), 2)
    hidden, given = "candidate/hidden_projection/", "candidate/input_projection/"
    new = r * (h @ w[hidden + "kernel"] + w[hidden + "bias"])
    new = np.tanh(x @ w[given + "kernel"] + w[given + "bias"] + new)
    return ((1 - u) * new + u * h,)


def plain(activation):
    return lambda w, x, h: (activation(np.append(x, h) @ w["kernel"] + w["bias"]),)


# Class, equations and the cell in the variables' names, by the scope of the layer.
LAYERS = {
    "cudnn_lstm": (cudnn_rnn.CudnnLSTM, lstm, "cudnn_compatible_lstm_cell"),
    "cudnn_gru": (cudnn_rnn.CudnnGRU, gru, "cudnn_compatible_gru_cell"),
    "cudnn_rnn_tanh": (cudnn_rnn.CudnnRNNTanh, plain(np.tanh), "basic_rnn_cell"),
    "cudnn_rnn_relu": (cudnn_rnn.CudnnRNNRelu, plain(lambda x: x * (x > 0)), "basic_rnn_cell"),
}
BOTH, ONE = "bidirectional", "unidirectional"


def in_numpy(step, layers, inputs, states):
    """Outputs and final states of one example, `[time, columns]`."""
    finals = []
    for directions in layers:
        outputs = []
        for number, weights in enumerate(directions):
            state, reads = states.pop(0), inputs[::-1] if number else inputs
            steps = []
            for x in reads:
                state = step(weights, x, *state)
                steps.append(state[0])
            outputs.append(steps[::-1] if number else steps)
            finals.append(state)
        inputs = np.concatenate(outputs, 1)
    return inputs, finals


def prefixes(scope, cell, directions):
    for layer in range(2):
        if directions == 1:
            yield [f"{scope}/rnn/multi_rnn_cell/cell_{layer}/{cell}/"]
        else:
            middle = f"stack_bidirectional_rnn/cell_{layer}/bidirectional_rnn"
            yield [f"{scope}/{middle}/{d}/{cell}/" for d in ("fw", "bw")]


@pytest.mark.parametrize(
    ("scope", "direction"),
    [
        ("cudnn_lstm", BOTH),
        ("cudnn_gru", ONE),
        slow("cudnn_lstm", ONE),
        slow("cudnn_gru", BOTH),
        slow("cudnn_rnn_tanh", BOTH),
        slow("cudnn_rnn_relu", ONE),
    ],
)
def test_equals_numpy(scope, direction, graph):
    make, step, cell = LAYERS[scope]
    layer = make(2, UNITS, direction=direction)
    cells = 2 * layer.num_dirs
    shape = [len(layer.state_shape(3)), cells, 3, UNITS]
    states = RANDOM.normal(size=shape).astype(np.float32)
    outputs, finals = layer(SERIES, tuple(states), LENGTHS)
    slopes = tf.gradients(outputs, layer.trainable_variables)
    with initialized_session() as session:
        for variable in layer.variables:
            value = RANDOM.uniform(-1, 1, variable.shape.as_list())
            variable.load(value.astype(np.float32), session)
        values = session.run({v.op.name: v for v in tf.global_variables()})
        outputs, finals, slopes = session.run([outputs, finals, slopes])
    weights = [
        [
            {n.removeprefix(p): v for n, v in values.items() if n.startswith(p)}
            for p in layer_prefixes
        ]
        for layer_prefixes in prefixes(scope, cell, layer.num_dirs)
    ]
    assert sum(len(w) for directions in weights for w in directions) == len(values)
    for row, length in enumerate(LENGTHS):
        state = [tuple(states[:, n, row]) for n in range(cells)]
        expected, final = in_numpy(step, weights, SERIES[:length, row], state)
        np.testing.assert_allclose(outputs[:length, row], expected, rtol=1e-3, atol=1e-5)
        assert not outputs[length:, row].any()
        actual = np.stack(finals)[:, :, row].swapaxes(0, 1)
        np.testing.assert_allclose(actual, final, rtol=1e-3, atol=1e-5)
    assert all(np.any(slope) for slope in slopes)


@pytest.mark.slow
def test_batch_major_and_dropout(graph):
    layer = cudnn_rnn.CudnnLSTM(2, UNITS, direction=BOTH, dropout=0.5, seed=4)
    states = tuple(RANDOM.normal(size=[2, 4, 3, UNITS]).astype(np.float32))
    swapped_states = tuple(state.swapaxes(0, 1) for state in states)
    series = SERIES.swapaxes(0, 1)
    fetches = [
        layer(SERIES, states, training=False),
        layer(series, swapped_states, time_major=False, training=False),
        layer(SERIES, states),
    ]
    plain, swapped, dropped = run_initialized(fetches)
    np.testing.assert_allclose(swapped[0], plain[0].swapaxes(0, 1), rtol=1e-5)
    np.testing.assert_allclose(swapped[1][1], plain[1][1].swapaxes(0, 1), rtol=1e-5)
    # The first layer's states are the same: only what the second one reads is dropped.
    np.testing.assert_allclose(dropped[1][0][:2], plain[1][0][:2], rtol=1e-5)
    assert not np.allclose(dropped[1][0][2:], plain[1][0][2:], rtol=1e-2)


def both_ways(cell):
    cells = [[cell(UNITS) for _ in range(2)] for _ in range(2)]
    inputs = tf.constant(SERIES)
    return rnn.stack_bidirectional_dynamic_rnn(
        *cells, inputs, dtype=tf.float32, time_major=True, sequence_length=LENGTHS
    )


def one_way(cell):
    stack = rnn.MultiRNNCell([cell(UNITS) for _ in range(2)])
    inputs = tf.constant(SERIES)
    return tf.nn.dynamic_rnn(stack, inputs, LENGTHS, dtype=tf.float32, time_major=True)


CELLS = {
    "CudnnLSTM": cudnn_rnn.CudnnCompatibleLSTMCell,
    "CudnnGRU": cudnn_rnn.CudnnCompatibleGRUCell,
    "CudnnRNNTanh": rnn.BasicRNNCell,
}


@pytest.mark.parametrize(
    ("name", "unroll", "direction"),
    [
        slow("CudnnLSTM", both_ways, "bidirectional"),
        slow("CudnnGRU", one_way, "unidirectional"),
        slow("CudnnGRU", both_ways, "bidirectional"),
        ("CudnnLSTM", one_way, "unidirectional"),
        slow("CudnnRNNTanh", both_ways, "bidirectional"),
    ],
)
def test_a_checkpoint_fits_the_compatible_cells(name, unroll, direction, tmp_path):
    with tf.Graph().as_default():
        tf.set_random_seed(1)
        layer = getattr(cudnn_rnn, name)(2, UNITS, direction=direction, name="layer")
        outputs, _ = layer(SERIES, sequence_lengths=LENGTHS, training=False)
        with initialized_session() as session:
            path = tf.train.Saver().save(session, str(tmp_path / "model"))
            expected = session.run(outputs)
    with tf.Graph().as_default(), tf.Session() as session:
        with tf.variable_scope("layer"):
            outputs = unroll(CELLS[name])[0]
        tf.train.Saver().restore(session, path)
        np.testing.assert_allclose(session.run(outputs), expected, rtol=1e-4, atol=1e-6)


def test_initial_values(graph):
    layer = cudnn_rnn.CudnnLSTM(1, 60, bias_initializer=tf.constant_initializer(0.25))
    layer(tf.zeros([1, 2, 20]))
    kernel, bias = run_initialized(layer.variables)
    for rows, fans in ((kernel[:20], 80), (kernel[20:], 120)):
        assert 0.97 * np.sqrt(6 / fans) < np.abs(rows).max() <= np.sqrt(6 / fans)
    assert (bias == 0.5).all()
    assert layer.input_size == 20 and layer.num_dirs == 1


def test_build_alone_makes_the_variables_where_it_is_called(graph):
    layer = cudnn_rnn.CudnnLSTM(1, 2)
    with tf.variable_scope("encoder"):
        layer.build([None, None, 3])
    layer(tf.zeros([1, 1, 3]))
    names = [v.op.name for v in layer.trainable_variables]
    assert len(names) == 2 and all(
        n.startswith("encoder/rnn/multi_rnn_cell/cell_0/") for n in names
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"direction": "both"}, "Invalid direction"),
        ({"input_mode": "none"}, "Invalid input_mode"),
        ({"input_mode": "skip_input"}, "linear_input"),
        ({"dtype": tf.float64}, "Only support"),
    ],
)
def test_wrong_arguments_are_refused(arguments, message, graph):
    with pytest.raises(ValueError, match=message):
        cudnn_rnn.CudnnLSTM(1, 3, **arguments)(tf.zeros([1, 1, 3]))
    with pytest.raises(TypeError, match="expecting tuple"):
        cudnn_rnn.CudnnLSTM(1, 3)(tf.zeros([1, 1, 3]), [1, 2])
