"""The namespace of tf.contrib.legacy_seq2seq: models of unrolled steps, as lists of tensors.

    outputs, state = legacy_seq2seq.embedding_attention_seq2seq(
        encoder_inputs, decoder_inputs, cell, num_encoder_symbols=1000, num_decoder_symbols=1000,
        embedding_size=64, feed_previous=False)
    loss = legacy_seq2seq.sequence_loss(outputs, targets, weights)

Arguments, defaults, variables and values are those of TensorFlow 1.15.
"""

import typing

from tf_frame_legacy.contrib.legacy_seq2seq.attention import (
    attention_decoder as attention_decoder,
    embedding_attention_decoder as embedding_attention_decoder,
    embedding_attention_seq2seq as embedding_attention_seq2seq,
)
from tf_frame_legacy.contrib.legacy_seq2seq.decoders import (
    embedding_rnn_decoder as embedding_rnn_decoder,
    rnn_decoder as rnn_decoder,
)
from tf_frame_legacy.contrib.legacy_seq2seq.losses import (
    model_with_buckets as model_with_buckets,
    sequence_loss as sequence_loss,
    sequence_loss_by_example as sequence_loss_by_example,
)
from tf_frame_legacy.contrib.legacy_seq2seq.models import (
    basic_rnn_seq2seq as basic_rnn_seq2seq,
    embedding_rnn_seq2seq as embedding_rnn_seq2seq,
    embedding_tied_rnn_seq2seq as embedding_tied_rnn_seq2seq,
    one2many_rnn_seq2seq as one2many_rnn_seq2seq,
    tied_rnn_seq2seq as tied_rnn_seq2seq,
)

if not typing.TYPE_CHECKING:
    __all__ = [name for name, value in globals().copy().items() if callable(value)]
