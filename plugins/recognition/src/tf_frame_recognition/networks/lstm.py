"""Long short-term memory in both directions, with the variables of TensorFlow 1's LSTM cells.

    BidirectionalRnn/bidirectional_rnn/fw/lstm_cell/kernel   [inputs + units, 4 * units]
    BidirectionalRnn/bidirectional_rnn/fw/lstm_cell/bias     [4 * units]
    BidirectionalRnn/bidirectional_rnn/bw/lstm_cell/...

The parts of a kernel are, in this order, input gate i, new values j, forget gate f, output gate o;
the state is `c' = sigmoid(f + 1) c + sigmoid(i) tanh(j)`, the output `sigmoid(o) tanh(c')`, as in
LSTMCell and LSTMBlockCell of tensorflow/python/ops/rnn_cell_impl.py and contrib/rnn.
"""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf

FORGET_BIAS = 1.0


def bidirectional(sequence: Any, units: int, *, fused: bool, scope: str) -> Any:
    """Adds an LSTM for each direction.

    Args:
      sequence: `[batch, time, features]`, time and features known.
      units: units of each direction.
      fused: use one op for all steps, which is quicker but which other formats than SavedModel do
        not know; else a few ops for each step.
      scope: variable scope, such as `BidirectionalRnn`.

    Returns:
      `[batch, time, 2 * units]`, the forward direction first.
    """
    run = _fused if fused else _unrolled
    steps = tf.transpose(sequence, [1, 0, 2])
    with tf.variable_scope(f"{scope}/bidirectional_rnn"):
        with tf.variable_scope("fw"):
            forward = run(steps, *cell_variables(steps.shape[-1], units))
        with tf.variable_scope("bw"):
            backward = run(tf.reverse(steps, [0]), *cell_variables(steps.shape[-1], units))
    return tf.transpose(tf.concat([forward, tf.reverse(backward, [0])], -1), [1, 0, 2])


def cell_variables(inputs: int, units: int) -> tuple[Any, Any]:
    """Makes kernel and bias of a cell in the scope `lstm_cell`.

    Args:
      inputs: number of inputs.
      units: number of units.
    """
    with tf.variable_scope("lstm_cell"):
        kernel = tf.get_variable("kernel", [inputs + units, 4 * units])
        bias = tf.get_variable("bias", [4 * units], initializer=tf.zeros_initializer())
    return kernel, bias


def cell(gates: Any, state: Any) -> tuple[Any, Any]:
    """Returns output and state of one step.

    Args:
      gates: `[batch, 4 * units]`, inputs and last output times the kernel, plus the bias.
      state: `[batch, units]`, the state of the last step.
    """
    i, j, f, o = tf.split(gates, 4, axis=1)
    state = tf.sigmoid(f + FORGET_BIAS) * state + tf.sigmoid(i) * tf.tanh(j)
    return tf.sigmoid(o) * tf.tanh(state), state


def _fused(steps: Any, kernel: Any, bias: Any) -> Any:
    units = bias.shape[0] // 4
    zeros, unused = tf.zeros([tf.shape(steps)[1], units]), tf.zeros([units])
    return tf.raw_ops.BlockLSTM(
        seq_len_max=tf.cast(tf.shape(steps)[0], tf.int64),
        x=steps,
        cs_prev=zeros,
        h_prev=zeros,
        w=kernel,
        wci=unused,
        wcf=unused,
        wco=unused,
        b=bias,
        forget_bias=FORGET_BIAS,
        cell_clip=-1,  # Off; the op's own default is 3.
        use_peephole=False,
    ).h


def _unrolled(steps: Any, kernel: Any, bias: Any) -> Any:
    units, features = bias.shape[0] // 4, steps.shape[-1]
    from_inputs = tf.tensordot(steps, kernel[:features], 1) + bias
    output = state = tf.zeros([tf.shape(steps)[1], units])
    outputs = []
    for gates in tf.unstack(from_inputs):
        output, state = cell(gates + tf.matmul(output, kernel[features:]), state)
        outputs.append(output)
    return tf.stack(outputs)
