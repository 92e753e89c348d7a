"""`dynamic_decode`, `BasicDecoder` and the helpers, with a linear cell."""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf
from tensorflow.python.keras.layers.legacy_rnn import rnn_cell_impl

from sessions import initialized_session
from tf_frame_legacy import layers
from tf_frame_legacy.contrib import seq2seq
from tf_frame_legacy.contrib.seq2seq.sampling import bernoulli_sample, categorical_sample

pytestmark = pytest.mark.usefixtures("control_flow_of_v1", "variable_mode")

LENGTHS = [2, 0, 3]
INPUTS = np.random.RandomState(0).randn(3, 4, 2).astype(np.float32)


class Sum(rnn_cell_impl.RNNCell):
    """Outputs and state are the sum of all inputs."""

    output_size = state_size = 2

    def call(self, inputs, state):
        return state + inputs, state + inputs


def run(helper, output_layer=None, **kwargs):
    decoder = seq2seq.BasicDecoder(Sum(), helper, tf.zeros([3, 2]), output_layer)
    outputs = seq2seq.dynamic_decode(decoder, **kwargs)
    with initialized_session() as session:
        return outputs, session.run(outputs)


def test_training(graph):
    tensors, (outputs, state, lengths) = run(seq2seq.TrainingHelper(INPUTS, LENGTHS))
    # After its end, a sequence goes on with the inputs of the longest.
    expected = INPUTS.cumsum(1)[:, :3]
    np.testing.assert_allclose(outputs.rnn_output, expected, rtol=1e-5)
    np.testing.assert_array_equal(outputs.sample_id, expected.argmax(2))
    np.testing.assert_allclose(state, expected[:, -1], rtol=1e-5)
    assert lengths.tolist() == LENGTHS
    assert tensors[0].rnn_output.shape.as_list() == [3, None, 2]


def test_finished_sequences_are_imputed(graph):
    helper = seq2seq.TrainingHelper(INPUTS.transpose([1, 0, 2]), LENGTHS, time_major=True)
    _, (outputs, state, lengths) = run(helper, impute_finished=True, output_time_major=True)
    sums = INPUTS.cumsum(1)[:, :3]
    valid = np.arange(3) < np.array(LENGTHS)[:, None]
    expected = (sums * valid[..., None]).transpose([1, 0, 2])
    np.testing.assert_allclose(outputs.rnn_output, expected, rtol=1e-5)
    last = np.stack([sums[0, 1], np.zeros(2), sums[2, 2]])
    np.testing.assert_allclose(state, last, rtol=1e-5)
    assert lengths.tolist() == LENGTHS


def test_limits_scopes_and_gradients(graph):
    helper = seq2seq.TrainingHelper(tf.constant(INPUTS), LENGTHS)
    with tf.variable_scope("outer"):
        decoder = seq2seq.BasicDecoder(
            Sum(), helper, tf.zeros([3, 2]), layers.Dense(5, name="projection")
        )
        outputs, _, lengths = seq2seq.dynamic_decode(
            decoder, maximum_iterations=tf.constant(2), swap_memory=True, parallel_iterations=1
        )
        decoder = seq2seq.BasicDecoder(
            Sum(), seq2seq.TrainingHelper(INPUTS, LENGTHS), tf.zeros([3, 2])
        )
        empty, _, _ = seq2seq.dynamic_decode(decoder, maximum_iterations=0)
    kernel, _ = tf.trainable_variables()
    assert kernel.op.name == "outer/decoder/projection/kernel"
    assert outputs.rnn_output.shape.as_list() == [3, None, 5]
    gradient = tf.gradients(tf.reduce_sum(outputs.rnn_output), kernel)[0]
    with initialized_session() as session:
        values = session.run([outputs.rnn_output, lengths, empty.sample_id, gradient])
    assert values[0].shape == (3, 2, 5)
    assert values[1].tolist() == [2, 0, 2]
    assert values[2].shape == (3, 0)
    sums = INPUTS.cumsum(1)[:, :2].sum((0, 1))
    np.testing.assert_allclose(values[3], np.tile(sums[:, None], 5), rtol=1e-5)


def test_greedy_and_sampled(graph):
    table = tf.constant([[0.0, 1.0], [2.0, 0.0]])
    greedy = seq2seq.GreedyEmbeddingHelper(table, [0, 1, 1], 1)
    _, (outputs, _, lengths) = run(greedy, maximum_iterations=5)
    # From token 0 the sum is [0, 1]: the end. From token 1 the sums are [2, 0], ..., [2, 3].
    assert outputs.sample_id[:, 0].tolist() == [1, 0, 0]
    assert lengths.tolist() == [1, 4, 4]
    np.testing.assert_array_equal(outputs.rnn_output[1], [[2, 0], [2, 1], [2, 2], [2, 3]])
    # At a low temperature, samples are the largest logits.
    sampled = seq2seq.SampleEmbeddingHelper(
        lambda ids: tf.gather(table, ids), [0, 1, 1], 1, softmax_temperature=1e-3, seed=1
    )
    _, (again, _, _) = run(sampled, maximum_iterations=2)
    np.testing.assert_array_equal(again.sample_id, outputs.sample_id[:, :2])
    with pytest.raises(ValueError, match="start_tokens must be a vector"):
        seq2seq.GreedyEmbeddingHelper(table, 0, 1)
    with pytest.raises(TypeError, match="single Tensor"):
        greedy.sample(0, (table, table), None)


@pytest.mark.parametrize(
    "auxiliary",
    [pytest.param(None, marks=pytest.mark.slow), np.ones([3, 4, 1], np.float32)],
    ids=["alone", "auxiliary"],
)
def test_scheduled_outputs(graph, auxiliary):
    class Pair(Sum):
        def call(self, inputs, state):
            return super().call(inputs[:, :2], state)

    helper = seq2seq.ScheduledOutputTrainingHelper(
        INPUTS, [3, 3, 3], 0.5, seed=3, auxiliary_inputs=auxiliary, next_inputs_fn=lambda o: 2 * o
    )
    decoder = seq2seq.BasicDecoder(Pair(), helper, tf.zeros([3, 2]))
    outputs, _, _ = seq2seq.dynamic_decode(decoder)
    with tf.Session() as session:
        outputs = session.run(outputs)
    replaced = outputs.sample_id.astype(bool)
    assert 0 < replaced[:, :2].sum() < 6
    state, inputs = 0, INPUTS[:, 0]
    for time in range(3):
        state = state + inputs
        np.testing.assert_allclose(outputs.rnn_output[:, time], state, rtol=1e-4)
        inputs = np.where(replaced[:, time, None], 2 * state, INPUTS[:, time + 1])


@pytest.mark.slow
def test_scheduled_embeddings(graph):
    table = np.float32([[5.0, 7.0], [11.0, 13.0]])
    helper = seq2seq.ScheduledEmbeddingTrainingHelper(
        INPUTS, [3, 3, 3], tf.constant(table), 0.5, seed=1, scheduling_seed=3
    )
    _, (outputs, _, _) = run(helper)
    ids = outputs.sample_id
    assert set(ids.flat) == {-1, 0, 1} or set(ids.flat) == {-1, 1} or set(ids.flat) == {-1, 0}
    state, inputs = 0, INPUTS[:, 0]
    for time in range(3):
        state = state + inputs
        np.testing.assert_allclose(outputs.rnn_output[:, time], state, rtol=1e-4)
        chosen = ids[:, time, None] >= 0
        inputs = np.where(chosen, table[ids[:, time]], INPUTS[:, time + 1])
    with pytest.raises(ValueError, match="scalar or a vector"):
        seq2seq.ScheduledEmbeddingTrainingHelper(INPUTS, LENGTHS, table, [[0.5]])


def test_helpers_of_functions(graph):
    start = INPUTS[:, 0]
    inference = seq2seq.InferenceHelper(
        lambda outputs: outputs * 2,
        [2],
        tf.float32,
        start,
        lambda samples: tf.reduce_max(samples, 1) > 20.0,
        lambda samples: samples / 2 + 1.0,
    )
    custom = seq2seq.CustomHelper(
        lambda: (tf.fill([3], False), tf.constant(start)),
        lambda time, outputs, state: outputs * 2,
        lambda time, outputs, state, sample_ids: (
            tf.reduce_max(sample_ids, 1) > 20.0,
            sample_ids / 2 + 1.0,
            state,
        ),
        [2],
        tf.float32,
    )
    with pytest.raises(ValueError, match="before initialize"):
        assert custom.batch_size
    state, inputs, expected = 0, start, []
    finished = np.zeros(3, bool)
    while not finished.all():
        state = state + inputs
        expected.append(2 * state)
        finished |= expected[-1].max(1) > 20
        inputs = state + 1
    for helper in (inference, custom):
        _, (outputs, _, _) = run(helper)
        np.testing.assert_allclose(outputs.sample_id, np.stack(expected, 1), rtol=1e-5)


def test_samples(graph):
    logits = np.log(np.float32([[0.1, 0.9], [0.5, 0.5]]))
    samples = [
        categorical_sample(logits, sample_shape=[4000], seed=1),
        bernoulli_sample(probs=[0.2, 0.7], sample_shape=4000, seed=1),
        bernoulli_sample(logits=tf.zeros([2]), sample_shape=[2000, 2], dtype=tf.bool, seed=1),
        categorical_sample(logits.astype(np.float64), seed=1),
    ]
    with tf.Session() as session:
        classes, ones, halves, one = session.run(samples)
    assert classes.shape == (4000, 2)
    np.testing.assert_allclose(classes.mean(0), [0.9, 0.5], atol=0.03)
    np.testing.assert_allclose(ones.mean(0), [0.2, 0.7], atol=0.03)
    assert halves.shape == (2000, 2, 2)
    assert halves.mean() == pytest.approx(0.5, abs=0.03)
    assert one.shape == (2,)


def test_errors(graph):
    helper = seq2seq.TrainingHelper(INPUTS, LENGTHS)
    with pytest.raises(TypeError, match="helper must be a Helper"):
        seq2seq.BasicDecoder(Sum(), "greedy", tf.zeros([3, 2]))
    with pytest.raises(TypeError, match="output_layer must be a Layer"):
        seq2seq.BasicDecoder(Sum(), helper, tf.zeros([3, 2]), tf.nn.relu)
    with pytest.raises(TypeError, match="to be type Decoder"):
        seq2seq.dynamic_decode(Sum())
    decoder = seq2seq.BasicDecoder(Sum(), helper, tf.zeros([3, 2]))
    with pytest.raises(ValueError, match="must be a scalar"):
        seq2seq.dynamic_decode(decoder, maximum_iterations=[1, 2])
    with pytest.raises(TypeError, match="decoder_init_input"):
        seq2seq.dynamic_decode(decoder, decoder_init_input=1)
    with pytest.raises(ValueError, match="sequence_length to be a vector"):
        seq2seq.TrainingHelper(INPUTS, 3)
