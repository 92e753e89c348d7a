"""Programs for tf.contrib.rnn, and the table of what they make, for a comparison with the original.

`recorded.json` was made by running this file with TensorFlow 1.15.5 (Python 3.7).
"""

import json
import sys
import types
import zlib

import numpy as np
import tensorflow.compat.v1 as tf

RANDOM = np.random.RandomState(0)
SERIES = RANDOM.normal(size=[2, 3, 4]).astype(np.float32)
TIME_MAJOR = np.ascontiguousarray(SERIES.transpose([1, 0, 2]))
IMAGES = RANDOM.normal(size=[2, 3, 2, 3, 2]).astype(np.float32)
WIDE = RANDOM.normal(size=[2, 3, 6]).astype(np.float32)
TIMES = np.cumsum(RANDOM.uniform(0, 2, size=[2, 3, 1]), axis=1).astype(np.float32)
IDS = np.array([[[3], [1], [0]], [[2], [2], [4]]])
LENGTHS = [3, 2]


def unrolled(cell, inputs=SERIES, lengths=LENGTHS):
    return tf.nn.dynamic_rnn(cell, inputs, lengths, dtype=tf.float32)


def stepwise(cell, inputs=SERIES[:, 0], dtype=tf.float32):
    """Two steps without tf.nn.dynamic_rnn."""
    inputs = tf.constant(inputs)
    state = cell.zero_state(2, dtype)
    first, state = cell(inputs, state)
    return first, cell(inputs, state)


def half(shape, dtype=None, partition_info=None):
    return tf.fill(shape, tf.constant(0.5, dtype))


def in_scopes(rnn):
    with tf.variable_scope("encoder"):
        outputs, state = unrolled(rnn.BasicLSTMCell(3))
        with tf.variable_scope("two"):
            again, _ = unrolled(rnn.MultiRNNCell([rnn.GRUCell(3), rnn.GRUCell(2)]), outputs)
    with tf.variable_scope("encoder", reuse=True):
        shared, _ = unrolled(rnn.BasicLSTMCell(3))
    return again, shared, state


def decoder(rnn):
    cell = rnn.MultiRNNCell(
        [
            rnn.DropoutWrapper(rnn.ResidualWrapper(rnn.LSTMCell(4)), 0.999999),
            rnn.DeviceWrapper(rnn.BasicRNNCell(2, activation=tf.nn.relu), "/cpu:0"),
        ]
    )
    return stepwise(cell)


def concatenated(rnn):
    cells = [
        rnn.BasicLSTMCell(3, forget_bias=0.5, state_is_tuple=False),
        rnn.LSTMCell(3, num_proj=2, state_is_tuple=False),
    ]
    return unrolled(rnn.MultiRNNCell(cells, state_is_tuple=False))


def fused(rnn, cell, **arguments):
    return cell(TIME_MAJOR, dtype=tf.float32, sequence_length=LENGTHS, **arguments)


def fused_both_ways(rnn):
    with tf.variable_scope("both"):
        there = rnn.LSTMBlockFusedCell(3, name="fw")(TIME_MAJOR, dtype=tf.float32)
        back = fused(rnn, rnn.TimeReversedFusedRNN(rnn.LSTMBlockFusedCell(3, name="bw")))
    return there, back


def fused_from_state(rnn):
    cell = rnn.LSTMBlockFusedCell(3, forget_bias=0.3, cell_clip=0.2, use_peephole=True)
    state = tf.constant(SERIES[0, :2, :3]), tf.constant(SERIES[1, :2, :3])
    return cell(tf.constant(TIME_MAJOR), state, sequence_length=[0, 2])


def adapted(rnn):
    first = fused(rnn, rnn.FusedRNNCellAdaptor(rnn.GRUCell(3)))
    cell = rnn.FusedRNNCellAdaptor(rnn.BasicRNNCell(3), use_dynamic_rnn=True)
    return first, fused(rnn, rnn.TimeReversedFusedRNN(cell))


def stacked(rnn):
    cells = [[rnn.BasicLSTMCell(n) for n in (3, 2)] for _ in range(2)]
    return rnn.stack_bidirectional_dynamic_rnn(
        *cells, inputs=SERIES, dtype=tf.float32, sequence_length=LENGTHS
    )


def stacked_static(rnn):
    cells = [[rnn.GRUCell(n) for n in (3, 2)] for _ in range(2)]
    states = [[tf.ones([2, n]) for n in (3, 2)] for _ in range(2)]
    series = [tf.constant(step) for step in TIME_MAJOR]
    return rnn.stack_bidirectional_rnn(*cells, series, *states, sequence_length=LENGTHS)


def static(rnn):
    series = [tf.constant(step) for step in TIME_MAJOR]
    with tf.variable_scope("there"):
        there = rnn.static_rnn(rnn.LSTMBlockCell(3), series, dtype=tf.float32)
    return there, rnn.static_bidirectional_rnn(
        rnn.GRUCell(2), rnn.GRUCell(3), series, dtype=tf.float32, sequence_length=LENGTHS
    )


def attention(rnn):
    return unrolled(rnn.AttentionCellWrapper(rnn.BasicLSTMCell(3), 2, attn_vec_size=5))


def concatenated_attention(rnn):
    cell = rnn.AttentionCellWrapper(rnn.GRUCell(3), 2, 5, input_size=2, state_is_tuple=False)
    return unrolled(cell)


def grid(rnn, cell, **arguments):
    blocks = {
        "start_freqindex_list": [0, 4],
        "end_freqindex_list": [4, 6],
        "num_frequency_blocks": [2, 1],
    }
    blocks.update(arguments)
    return unrolled(cell(2, feature_size=2, frequency_skip=2, **blocks), WIDE)


LSTM_ARGUMENTS = {"use_peepholes": True, "num_proj": 2, "proj_clip": 0.3}

CASES = {
    "BasicRNNCell": lambda rnn: unrolled(rnn.BasicRNNCell(3, name="mine")),
    "BasicLSTMCell": lambda rnn: unrolled(rnn.BasicLSTMCell(3)),
    "GRUCell": lambda rnn: unrolled(rnn.GRUCell(3, kernel_initializer=half)),
    "LSTMCell": lambda rnn: unrolled(rnn.LSTMCell(3, cell_clip=0.4, **LSTM_ARGUMENTS)),
    "in_scopes": in_scopes,
    "decoder": decoder,
    "concatenated": concatenated,
    "EmbeddingWrapper": lambda rnn: unrolled(rnn.EmbeddingWrapper(rnn.GRUCell(3), 5, 4), IDS),
    "InputProjectionWrapper": lambda rnn: unrolled(
        rnn.InputProjectionWrapper(rnn.GRUCell(3), 2, activation=tf.nn.relu)
    ),
    "OutputProjectionWrapper": lambda rnn: unrolled(
        rnn.OutputProjectionWrapper(rnn.BasicLSTMCell(3), 2)
    ),
    "AttentionCellWrapper": attention,
    "AttentionCellWrapper_concatenated": concatenated_attention,
    "HighwayWrapper": lambda rnn: unrolled(rnn.HighwayWrapper(rnn.GRUCell(4))),
    "HighwayWrapper_two_gates": lambda rnn: unrolled(
        rnn.HighwayWrapper(rnn.GRUCell(4), False, 0.5)
    ),
    "CompiledWrapper": lambda rnn: stepwise(rnn.CompiledWrapper(rnn.GRUCell(3))),
    "LSTMBlockCell": lambda rnn: unrolled(rnn.LSTMBlockCell(3)),
    "LSTMBlockCell_peephole": lambda rnn: unrolled(
        rnn.LSTMBlockCell(3, forget_bias=0.5, cell_clip=0.2, use_peephole=True)
    ),
    "GRUBlockCell": lambda rnn: unrolled(rnn.GRUBlockCell(3)),
    "GRUBlockCellV2": lambda rnn: stepwise(rnn.GRUBlockCellV2(num_units=3)),
    "LSTMBlockFusedCell": lambda rnn: fused(rnn, rnn.LSTMBlockFusedCell(3)),
    "fused_both_ways": fused_both_ways,
    "fused_from_state": fused_from_state,
    "adapted": adapted,
    "stack_bidirectional_dynamic_rnn": stacked,
    "stack_bidirectional_rnn": stacked_static,
    "static_rnn": static,
    "LayerNormBasicLSTMCell": lambda rnn: stepwise(rnn.LayerNormBasicLSTMCell(3)),
    "LayerNormBasicLSTMCell_without": lambda rnn: unrolled(
        rnn.LayerNormBasicLSTMCell(3, 0.5, None, tf.nn.relu, False)
    ),
    "LayerNormLSTMCell": lambda rnn: unrolled(
        rnn.LayerNormLSTMCell(3, layer_norm=True, cell_clip=0.9, **LSTM_ARGUMENTS)
    ),
    "LayerNormLSTMCell_without": lambda rnn: unrolled(rnn.LayerNormLSTMCell(3)),
    "WeightNormLSTMCell": lambda rnn: unrolled(
        rnn.WeightNormLSTMCell(3, cell_clip=0.9, **LSTM_ARGUMENTS)
    ),
    "WeightNormLSTMCell_without": lambda rnn: unrolled(rnn.WeightNormLSTMCell(3, norm=False)),
    "CoupledInputForgetGateLSTMCell": lambda rnn: unrolled(
        rnn.CoupledInputForgetGateLSTMCell(3, num_unit_shards=2, **LSTM_ARGUMENTS)
    ),
    "CoupledInputForgetGateLSTMCell_norm": lambda rnn: unrolled(
        rnn.CoupledInputForgetGateLSTMCell(3, layer_norm=True, norm_gain=2.0)
    ),
    "NASCell": lambda rnn: unrolled(rnn.NASCell(3, num_proj=2, use_bias=True)),
    "UGRNNCell": lambda rnn: unrolled(rnn.UGRNNCell(3, initializer=half)),
    "IntersectionRNNCell": lambda rnn: unrolled(rnn.IntersectionRNNCell(3, num_in_proj=3)),
    "PhasedLSTMCell": lambda rnn: unrolled(
        rnn.PhasedLSTMCell(3, use_peepholes=True), (TIMES, SERIES)
    ),
    "ConvLSTMCell": lambda rnn: unrolled(
        rnn.Conv2DLSTMCell(input_shape=[2, 3, 2], output_channels=3, kernel_shape=[3, 2]), IMAGES
    ),
    "Conv1DLSTMCell": lambda rnn: stepwise(
        rnn.Conv1DLSTMCell(
            input_shape=[3, 2],
            output_channels=2,
            kernel_shape=[3],
            use_bias=False,
            forget_bias=0.5,
            name="one",
        ),
        IMAGES[:, 0, 0],
    ),
    "Conv3DLSTMCell": lambda rnn: stepwise(
        rnn.Conv3DLSTMCell(input_shape=[3, 2, 3, 2], output_channels=2, kernel_shape=[1, 2, 3]),
        IMAGES,
    ),
    "GLSTMCell": lambda rnn: unrolled(rnn.GLSTMCell(4, num_proj=2, number_of_groups=2)),
    "SRUCell": lambda rnn: unrolled(rnn.SRUCell(3)),
    "IndRNNCell": lambda rnn: unrolled(rnn.IndRNNCell(3)),
    "IndyGRUCell": lambda rnn: unrolled(rnn.IndyGRUCell(3)),
    "IndyLSTMCell": lambda rnn: unrolled(rnn.IndyLSTMCell(3, forget_bias=0.5)),
    "MinimalRNNCell": lambda rnn: unrolled(rnn.MinimalRNNCell(3)),
    "CFNCell": lambda rnn: unrolled(rnn.CFNCell(3)),
    "TimeFreqLSTMCell": lambda rnn: stepwise(
        rnn.TimeFreqLSTMCell(
            2, use_peepholes=True, cell_clip=0.5, feature_size=4, frequency_skip=1
        ),
        SERIES[:, 0],
    ),
    "GridLSTMCell": lambda rnn: grid(rnn, rnn.GridLSTMCell, use_peepholes=True),
    "GridLSTMCell_coupled": lambda rnn: grid(
        rnn,
        rnn.GridLSTMCell,
        use_peepholes=True,
        couple_input_forget_gates=True,
        cell_clip=0.3,
        share_time_frequency_weights=True,
    ),
    "GridLSTMCell_concatenated": lambda rnn: grid(
        rnn,
        rnn.GridLSTMCell,
        state_is_tuple=False,
        num_frequency_blocks=[3],
        start_freqindex_list=None,
        end_freqindex_list=None,
        num_unit_shards=2,
    ),
    "BidirectionalGridLSTMCell": lambda rnn: grid(
        rnn, rnn.BidirectionalGridLSTMCell, use_peepholes=True, backward_slice_offset=1
    ),
    "CudnnCompatibleLSTMCell": lambda rnn: unrolled(rnn.CudnnCompatibleLSTMCell(3)),
    "CudnnCompatibleGRUCell": lambda rnn: unrolled(rnn.CudnnCompatibleGRUCell(3)),
}


def made_by(case, rnn):
    """Returns the variables of a case, and its outputs and gradients with variables by name."""
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(0)
        outputs = tf.nest.flatten(CASES[case](rnn))
        trained = tf.trainable_variables()
        gradients = tf.gradients([tf.reduce_sum(tf.square(t)) for t in outputs], trained)
        session.run(tf.global_variables_initializer())
        initial = session.run({v.op.name: v for v in tf.global_variables()})
        for variable in tf.global_variables():
            variable.load(_value(variable), session)
        used = [slope for slope in map(_dense, gradients) if slope is not None]
        values, slopes = session.run([outputs, [tf.reduce_sum(slope) for slope in used]])
    return {
        "variables": {name: list(value.shape) for name, value in initial.items()},
        "trained": _names(trained),
        "constants": {n: float(v.min()) for n, v in initial.items() if v.min() == v.max()},
        "shapes": [output.shape.as_list() for output in outputs],
        "values": [_rounded(value) for value in values],
        "gradients": _rounded(slopes),
    }


def _names(variables):
    return [variable.op.name for variable in variables]


def _value(variable):
    random = np.random.RandomState(zlib.crc32(variable.op.name.encode()))
    # No value is negative where a period is expected.
    low = 0.5 if variable.op.name.endswith(("period", "ratio_on")) else -0.5
    return random.uniform(low, low + 1, size=variable.shape.as_list()).astype(np.float32)


def _dense(slope):
    return slope.values if hasattr(slope, "values") else slope


def _rounded(value):
    return [float(f"{number:.6g}") for number in np.ravel(value)]


def main():
    from tensorflow.contrib import cudnn_rnn, rnn
    from tensorflow.contrib.rnn.python.ops import rnn_cell

    names = types.SimpleNamespace(**vars(rnn_cell))
    vars(names).update(vars(rnn), **vars(cudnn_rnn))
    with open(sys.argv[1], "w") as table:
        lines = [f"{json.dumps(c)}: {json.dumps(made_by(c, names))}" for c in CASES]
        table.write("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
