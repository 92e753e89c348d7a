"""tf.contrib.seq2seq."""

from tf_frame_legacy.names.row import alias, not_offered, reimplemented

_CONTRIB = "tf.contrib.seq2seq"
_OPS = f"{_CONTRIB}.python.ops"
_OURS = "tf_frame_legacy.contrib.seq2seq"
_KERAS = (
    "Its base class is a layer of Keras 2, in TensorFlow 1.15 only and never public. Use the class "
    "without V2, or tf.keras.layers.Attention."
)

ROWS = [
    *reimplemented(
        (_CONTRIB, f"{_OPS}.attention_wrapper"),
        f"{_OURS}.attention",
        "AttentionMechanism BahdanauAttention LuongAttention",
    ),
    *reimplemented(
        f"{_OPS}.attention_wrapper",
        f"{_OURS}.attention",
        "_BaseAttentionMechanism _bahdanau_score _luong_score _maybe_mask_score _prepare_memory",
    ),
    *reimplemented(
        (_CONTRIB, f"{_OPS}.attention_wrapper"),
        f"{_OURS}.monotonic",
        "BahdanauMonotonicAttention LuongMonotonicAttention monotonic_attention safe_cumprod",
    ),
    *reimplemented(
        f"{_OPS}.attention_wrapper",
        f"{_OURS}.monotonic",
        "_BaseMonotonicAttentionMechanism _monotonic_probability_fn",
    ),
    *reimplemented(
        (_CONTRIB, f"{_OPS}.attention_wrapper"),
        f"{_OURS}.attention_wrapper",
        "AttentionWrapper AttentionWrapperState hardmax",
    ),
    *reimplemented(f"{_OPS}.attention_wrapper", f"{_OURS}.attention_wrapper", "_compute_attention"),
    *reimplemented(
        (_CONTRIB, f"{_OPS}.basic_decoder"),
        f"{_OURS}.basic_decoder",
        "BasicDecoder BasicDecoderOutput",
    ),
    *reimplemented(
        (_CONTRIB, f"{_OPS}.beam_search_decoder"),
        f"{_OURS}.beam_search_decoder",
        "BeamSearchDecoder FinalBeamSearchDecoderOutput",
    ),
    *reimplemented(
        (_CONTRIB, f"{_OPS}.beam_search_decoder"),
        f"{_OURS}.beam_search_step",
        "BeamSearchDecoderOutput BeamSearchDecoderState",
    ),
    *reimplemented(
        f"{_OPS}.beam_search_decoder",
        f"{_OURS}.beam_search_step",
        "_beam_search_step _get_scores _length_penalty _mask_probs "
        "attention_probs_from_attn_state get_attention_probs",
    ),
    *reimplemented((_CONTRIB, f"{_OPS}.beam_search_decoder"), f"{_OURS}.beams", "tile_batch"),
    *reimplemented(
        (_CONTRIB, f"{_OPS}.beam_search_ops"),
        f"{_OURS}.beams",
        "gather_tree",
        note="Operations of TensorFlow instead of a kernel in C++: an invalid parent is an error "
        "of the gather operation on a CPU, and a zero on a GPU.",
    ),
    *reimplemented(f"{_OPS}.beam_search_decoder", f"{_OURS}.beams", "gather_tree_from_array"),
    *reimplemented((_CONTRIB, f"{_OPS}.decoder"), f"{_OURS}.decoder", "Decoder dynamic_decode"),
    *reimplemented(f"{_OPS}.decoder", f"{_OURS}.decoder", "_create_zero_outputs"),
    *alias(
        (f"{_OPS}.decoder", f"{_OPS}.helper"),
        "tensorflow.python.ops.rnn",
        "_transpose_batch_time",
    ),
    *reimplemented(
        (_CONTRIB, f"{_OPS}.helper"),
        f"{_OURS}.helper",
        "CustomHelper GreedyEmbeddingHelper Helper InferenceHelper SampleEmbeddingHelper "
        "TrainingHelper",
    ),
    *reimplemented(f"{_OPS}.helper", f"{_OURS}.helper", "_unstack_ta"),
    *reimplemented(f"{_OPS}.helper", f"{_OURS}.sampling", "bernoulli_sample categorical_sample"),
    *reimplemented(
        (_CONTRIB, f"{_OPS}.helper"),
        f"{_OURS}.scheduled",
        "ScheduledEmbeddingTrainingHelper ScheduledOutputTrainingHelper",
    ),
    *reimplemented((_CONTRIB, f"{_OPS}.loss"), f"{_OURS}.loss", "sequence_loss"),
    *not_offered(
        f"{_OPS}.attention_wrapper",
        "BahdanauAttentionV2 BahdanauMonotonicAttentionV2 LuongAttentionV2 "
        "LuongMonotonicAttentionV2 _BaseAttentionMechanismV2",
        _KERAS,
    ),
    *not_offered(f"{_OPS}.basic_decoder", "BasicDecoderV2", _KERAS),
    *not_offered(
        f"{_OPS}.beam_search_decoder", "BeamSearchDecoderV2 BeamSearchDecoderMixin", _KERAS
    ),
    *not_offered(f"{_OPS}.decoder", "BaseDecoder", _KERAS),
    *not_offered(f"{_OPS}.loss", "SequenceLoss", f"{_KERAS} Or call sequence_loss."),
    *not_offered(
        f"{_OPS}.sampler",
        "*",
        "Samplers are for the Keras decoders of TensorFlow 1.15, which were never public. Use the "
        "helpers of tf.contrib.seq2seq.",
    ),
    *not_offered(
        (f"{_OPS}.attention_decoder_fn", f"{_OPS}.decoder_fn", f"{_OPS}.seq2seq"),
        "*",
        "TensorFlow removed it in 1.2. Use BasicDecoder with a helper and dynamic_decode.",
    ),
    *not_offered(
        _CONTRIB,
        "attention_decoder_fn_inference attention_decoder_fn_train dynamic_rnn_decoder "
        "prepare_attention simple_decoder_fn_inference simple_decoder_fn_train "
        "DynamicAttentionWrapper DynamicAttentionWrapperState",
        "TensorFlow removed it in 1.2. Use BasicDecoder with a helper and dynamic_decode; "
        "AttentionWrapper for DynamicAttentionWrapper.",
    ),
]
