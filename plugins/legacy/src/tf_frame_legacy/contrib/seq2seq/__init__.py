"""The namespace of tf.contrib.seq2seq: attention, decoders, helpers, beam search and the loss.

    mechanism = seq2seq.BahdanauAttention(256, encoder_outputs, source_lengths)
    cell = seq2seq.AttentionWrapper(cell, mechanism, attention_layer_size=256)
    helper = seq2seq.TrainingHelper(target_embeddings, target_lengths)
    decoder = seq2seq.BasicDecoder(cell, helper, cell.zero_state(batch_size, tf.float32), dense)
    outputs, state, lengths = seq2seq.dynamic_decode(decoder)

Arguments, defaults, variables and values are those of TensorFlow 1.15. The cells are subclasses of
TensorFlow's `RNNCell`.
"""

import typing

from tf_frame_legacy.contrib.seq2seq.attention import (
    AttentionMechanism as AttentionMechanism,
    BahdanauAttention as BahdanauAttention,
    LuongAttention as LuongAttention,
)
from tf_frame_legacy.contrib.seq2seq.attention_wrapper import (
    AttentionWrapper as AttentionWrapper,
    AttentionWrapperState as AttentionWrapperState,
    hardmax as hardmax,
)
from tf_frame_legacy.contrib.seq2seq.basic_decoder import (
    BasicDecoder as BasicDecoder,
    BasicDecoderOutput as BasicDecoderOutput,
)
from tf_frame_legacy.contrib.seq2seq.beam_search_decoder import (
    BeamSearchDecoder as BeamSearchDecoder,
    FinalBeamSearchDecoderOutput as FinalBeamSearchDecoderOutput,
)
from tf_frame_legacy.contrib.seq2seq.beam_search_step import (
    BeamSearchDecoderOutput as BeamSearchDecoderOutput,
    BeamSearchDecoderState as BeamSearchDecoderState,
)
from tf_frame_legacy.contrib.seq2seq.beams import (
    gather_tree as gather_tree,
    tile_batch as tile_batch,
)
from tf_frame_legacy.contrib.seq2seq.decoder import (
    Decoder as Decoder,
    dynamic_decode as dynamic_decode,
)
from tf_frame_legacy.contrib.seq2seq.helper import (
    CustomHelper as CustomHelper,
    GreedyEmbeddingHelper as GreedyEmbeddingHelper,
    Helper as Helper,
    InferenceHelper as InferenceHelper,
    SampleEmbeddingHelper as SampleEmbeddingHelper,
    TrainingHelper as TrainingHelper,
)
from tf_frame_legacy.contrib.seq2seq.loss import sequence_loss as sequence_loss
from tf_frame_legacy.contrib.seq2seq.monotonic import (
    BahdanauMonotonicAttention as BahdanauMonotonicAttention,
    LuongMonotonicAttention as LuongMonotonicAttention,
    monotonic_attention as monotonic_attention,
    safe_cumprod as safe_cumprod,
)
from tf_frame_legacy.contrib.seq2seq.scheduled import (
    ScheduledEmbeddingTrainingHelper as ScheduledEmbeddingTrainingHelper,
    ScheduledOutputTrainingHelper as ScheduledOutputTrainingHelper,
)

if not typing.TYPE_CHECKING:
    __all__ = [name for name, value in globals().copy().items() if callable(value)]
