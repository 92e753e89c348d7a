"""Models of unrolled steps against values and names that TensorFlow 1.15 recorded."""

import zlib

import numpy as np
import pytest
import tensorflow.compat.v1 as tf
from tensorflow.python.keras.layers.legacy_rnn import rnn_cell_impl

from tf_frame_legacy.contrib import legacy_seq2seq

pytestmark = pytest.mark.usefixtures("control_flow_of_v1", "variable_mode")

GRU_PARTS = ["/gates/kernel", "/gates/bias", "/candidate/kernel", "/candidate/bias"]
ENCODER = [[1, 0], [0, 1]]
DECODER = [[0, 1], [2, 3], [4, 0]]


def tokens(steps):
    return [tf.constant(step, tf.int32) for step in steps]


def vectors(seed):
    random = np.random.RandomState(seed)
    return [tf.constant(random.randn(2, 2), tf.float32) for _ in range(2)]


def cell():
    return rnn_cell_impl.GRUCell(2)


def attention(feed_previous):
    return legacy_seq2seq.embedding_attention_seq2seq(
        tokens(ENCODER), tokens(DECODER), cell(), 2, 5, 3, num_heads=2, feed_previous=feed_previous
    )


MODELS = {
    "rnn": lambda: legacy_seq2seq.rnn_decoder(vectors(0), tf.zeros([2, 2]), cell()),
    "basic": lambda: legacy_seq2seq.basic_rnn_seq2seq(vectors(0), vectors(1), cell()),
    "tied": lambda: legacy_seq2seq.tied_rnn_seq2seq(
        vectors(0), vectors(1), cell(), loop_function=lambda previous, step: previous * step
    ),
    "embedding": lambda: legacy_seq2seq.embedding_rnn_seq2seq(
        tokens(ENCODER), tokens(DECODER), cell(), 2, 5, 3, feed_previous=True
    ),
    "embedding_tied": lambda: legacy_seq2seq.embedding_tied_rnn_seq2seq(
        tokens(ENCODER), tokens(DECODER), cell(), 5, 3, num_decoder_symbols=4
    ),
    "attention": lambda: attention(tf.constant(True)),
    "one2many": lambda: legacy_seq2seq.one2many_rnn_seq2seq(
        tokens(ENCODER),
        {"a": tokens(DECODER), "b": tokens(DECODER[:2])},
        cell(),
        {"a": cell(), "b": cell()},
        2,
        {"a": 5, "b": 4},
        3,
        feed_previous=tf.constant(False),
    ),
}
# By model: the scope, its variables (a cell stands for its four), means of outputs and states.
RECORDED = {
    "attention": (
        "embedding_attention_seq2seq",
        "embedding_attention_decoder/attention_decoder/Attention_0/bias "
        "embedding_attention_decoder/attention_decoder/Attention_0/kernel "
        "embedding_attention_decoder/attention_decoder/Attention_1/bias "
        "embedding_attention_decoder/attention_decoder/Attention_1/kernel "
        "embedding_attention_decoder/attention_decoder/AttnOutputProjection/bias "
        "embedding_attention_decoder/attention_decoder/AttnOutputProjection/kernel "
        "embedding_attention_decoder/attention_decoder/AttnV_0 "
        "embedding_attention_decoder/attention_decoder/AttnV_1 "
        "embedding_attention_decoder/attention_decoder/AttnW_0 "
        "embedding_attention_decoder/attention_decoder/AttnW_1 "
        "embedding_attention_decoder/attention_decoder/bias "
        "embedding_attention_decoder/attention_decoder/kernel "
        "embedding_attention_decoder/attention_decoder/output_projection_wrapper/bias "
        "embedding_attention_decoder/attention_decoder/output_projection_wrapper/gru_cell "
        "embedding_attention_decoder/attention_decoder/output_projection_wrapper/kernel "
        "embedding_attention_decoder/embedding rnn/embedding_wrapper/embedding "
        "rnn/embedding_wrapper/gru_cell",
        [1.07093, 1.19511, 1.28564, -0.564601],
    ),
    "basic": (
        "basic_rnn_seq2seq",
        "rnn/gru_cell rnn_decoder/gru_cell",
        [0.402118, 0.14693, 0.14693],
    ),
    "embedding": (
        "embedding_rnn_seq2seq",
        "embedding_rnn_decoder/embedding "
        "embedding_rnn_decoder/rnn_decoder/output_projection_wrapper/bias "
        "embedding_rnn_decoder/rnn_decoder/output_projection_wrapper/gru_cell "
        "embedding_rnn_decoder/rnn_decoder/output_projection_wrapper/kernel "
        "rnn/embedding_wrapper/embedding rnn/embedding_wrapper/gru_cell",
        [-0.163283, -0.530356, -0.616539, -0.454991],
    ),
    "embedding_tied": (
        "embedding_tied_rnn_seq2seq",
        "combined_tied_rnn_seq2seq/tied_rnn_seq2seq/output_projection_wrapper/bias "
        "combined_tied_rnn_seq2seq/tied_rnn_seq2seq/output_projection_wrapper/gru_cell "
        "combined_tied_rnn_seq2seq/tied_rnn_seq2seq/output_projection_wrapper/kernel "
        "embedding",
        [-0.964437, -0.960871, -1.03468, -0.0820887],
    ),
    "one2many": (
        "one2many_rnn_seq2seq",
        "one2many_decoder_a/embedding_rnn_decoder/embedding "
        "one2many_decoder_a/embedding_rnn_decoder/rnn_decoder/output_projection_wrapper/bias "
        "one2many_decoder_a/embedding_rnn_decoder/rnn_decoder/output_projection_wrapper/gru_cell "
        "one2many_decoder_a/embedding_rnn_decoder/rnn_decoder/output_projection_wrapper/kernel "
        "one2many_decoder_b/embedding_rnn_decoder/embedding "
        "one2many_decoder_b/embedding_rnn_decoder/rnn_decoder/output_projection_wrapper/bias "
        "one2many_decoder_b/embedding_rnn_decoder/rnn_decoder/output_projection_wrapper/gru_cell "
        "one2many_decoder_b/embedding_rnn_decoder/rnn_decoder/output_projection_wrapper/kernel "
        "rnn/embedding_wrapper/embedding rnn/embedding_wrapper/gru_cell",
        [0.0991952, 0.146841, 0.0635797, -1.30588, -1.05974, -0.433315, 0.45456],
    ),
    "rnn": (
        "rnn_decoder",
        "gru_cell",
        [-0.279014, -0.33111, -0.33111],
    ),
    "tied": (
        "combined_tied_rnn_seq2seq",
        "tied_rnn_seq2seq/gru_cell",
        [-0.783977, -0.530241, -0.530241],
    ),
}


def values(tensors):
    """Returns values, with variables that depend on their names only."""
    with tf.Session() as session:
        for variable in tf.global_variables():
            random = np.random.RandomState(zlib.crc32(variable.op.name.encode()))
            variable.load(np.float32(random.randn(*variable.shape.as_list())), session)
        return session.run(tensors)


def summarized(model):
    """Returns the names of the variables, and the means of outputs and states."""
    means = [float(np.mean(value)) for value in tf.nest.flatten(values(model))]
    return sorted(variable.op.name for variable in tf.global_variables()), means


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=() if name == "attention" else pytest.mark.slow) for name in MODELS],
)
def test_model(graph, name):
    names, means = summarized(MODELS[name]())
    scope, recorded_names, recorded_means = RECORDED[name]
    assert names == sorted(
        f"{scope}/{variable}{part}"
        for variable in recorded_names.split()
        for part in (GRU_PARTS if variable.endswith("gru_cell") else [""])
    )
    np.testing.assert_allclose(means, recorded_means, rtol=1e-4, atol=1e-6)


@pytest.mark.slow
def test_embeddings_of_previous_outputs_train_on_demand(graph):
    """Tokens fed back train the embedding with a bool, and do not with a tensor."""
    projection = (tf.eye(2, 5), tf.constant([0.0, 0.0, 0.0, 9.0, 0.0]))
    counts = []
    for index, feed_previous in enumerate((True, tf.constant(True))):
        with tf.variable_scope(f"model_{index}"):
            outputs, _ = legacy_seq2seq.embedding_rnn_seq2seq(
                tokens(ENCODER),
                tokens([[0, 0], [0, 0], [0, 0]]),
                cell(),
                2,
                5,
                3,
                output_projection=projection,
                feed_previous=feed_previous,
            )
        embedding = tf.trainable_variables(f"model_{index}/.*embedding_rnn_decoder/embedding")
        gradient = tf.gradients(tf.add_n(outputs), embedding)[0]
        counts.append(tf.count_nonzero(tf.reduce_sum(tf.abs(tf.convert_to_tensor(gradient)), 1)))
    # The first token, 0, and those with the largest logit, 3.
    assert values(counts) == [2, 1]
    with pytest.raises(ValueError, match="compatible|shape"):
        legacy_seq2seq.embedding_rnn_decoder(
            tokens(DECODER), tf.zeros([2, 2]), cell(), 4, 3, output_projection=projection
        )


def test_losses_and_buckets(graph):
    random = np.random.RandomState(0)
    logits = random.randn(3, 2, 5).astype(np.float32)
    weights = np.float32([[1, 1], [1, 0], [0.5, 0]])
    log_probs = logits - np.log(np.exp(logits).sum(2, keepdims=True))
    losses = -np.take_along_axis(log_probs, np.array(DECODER)[..., None], 2)[..., 0] * weights
    arguments = [list(map(tf.constant, logits)), tokens(DECODER), list(map(tf.constant, weights))]
    tensors = [
        legacy_seq2seq.sequence_loss_by_example(*arguments),
        legacy_seq2seq.sequence_loss(*arguments),
        legacy_seq2seq.sequence_loss(
            *arguments, average_across_timesteps=False, average_across_batch=False
        ),
    ]

    def model(encoder_inputs, decoder_inputs):
        bias = tf.get_variable("bias", [], initializer=tf.zeros_initializer())
        return [tf.constant(step) + bias for step in logits[: len(decoder_inputs)]], None

    inputs = tokens(ENCODER), tokens(DECODER), tokens(DECODER), arguments[2]
    outputs, by_bucket = legacy_seq2seq.model_with_buckets(*inputs, [(1, 2), (2, 3)], model)
    with tf.variable_scope(tf.get_variable_scope(), reuse=True):
        _, (by_example,) = legacy_seq2seq.model_with_buckets(
            *inputs, [(2, 3)], model, lambda labels, logits: logits[:, 0], per_example_loss=True
        )
    assert [len(steps) for steps in outputs] == [2, 3]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        examples, mean, total, short, long = session.run([*tensors, *by_bucket])
        own = session.run(by_example)
    expected = losses.sum(0) / weights.sum(0)
    np.testing.assert_allclose(examples, expected, rtol=1e-5)
    np.testing.assert_allclose([mean, long], expected.mean(), rtol=1e-5)
    np.testing.assert_allclose(total, losses.sum(), rtol=1e-5)
    np.testing.assert_allclose(own, (logits[..., 0] * weights).sum(0) / weights.sum(0), rtol=1e-5)
    expected = losses[:2].sum(0) / weights[:2].sum(0)
    np.testing.assert_allclose(short, expected.mean(), rtol=1e-5)
    with pytest.raises(ValueError, match=r"Length of targets \(3\)"):
        legacy_seq2seq.model_with_buckets(*inputs, [(2, 4)], model)
    with pytest.raises(ValueError, match="Lengths of logits"):
        legacy_seq2seq.sequence_loss(arguments[0], tokens(ENCODER), arguments[2])


def test_buckets_share_one_cell_that_has_variables(graph):
    """Programs for TensorFlow 0.x make one cell, which the model copies for each bucket."""
    inputs = [*map(tokens, (ENCODER, DECODER, DECODER)), [tf.ones([2])] * 3]
    shared = cell()

    def model(encoder_inputs, decoder_inputs):
        return legacy_seq2seq.embedding_rnn_seq2seq(encoder_inputs, decoder_inputs, shared, 2, 5, 3)

    legacy_seq2seq.model_with_buckets(*inputs, [(1, 1)], model)
    names = [variable.op.name for variable in tf.global_variables()]
    with tf.variable_scope(tf.get_variable_scope(), reuse=True):
        legacy_seq2seq.model_with_buckets(*inputs, [(2, 2)], model)
    assert [variable.op.name for variable in tf.global_variables()] == names
    assert sum(name.endswith("/gates/kernel") for name in names) == 2


def test_errors(graph):
    states = tf.zeros([2, 3, 2])
    with pytest.raises(ValueError, match="at least 1 input"):
        legacy_seq2seq.attention_decoder([], tf.zeros([2, 2]), states, cell())
    with pytest.raises(ValueError, match="less than 1 heads"):
        legacy_seq2seq.attention_decoder(vectors(0), tf.zeros([2, 2]), states, cell(), num_heads=0)
    with pytest.raises(ValueError, match="keys of dec_cells_dict"):
        legacy_seq2seq.one2many_rnn_seq2seq([], {"a": []}, cell(), {"b": cell()}, 2, {"a": 2}, 3)
    with pytest.raises(TypeError, match="is not an RNNCell"):
        legacy_seq2seq.one2many_rnn_seq2seq([], {}, tf.nn.relu, {}, 2, {}, 3)
