"""Operations of private modules that TensorFlow generates.

Until TensorFlow 1.6 or so, those without a public name began with an underscore: programs for
guided backpropagation call `gen_nn_ops._relu_grad`.
"""

from tf_frame_legacy.names.row import alias

_P = "tensorflow.python.ops"
_OPERATIONS = {
    "gen_array_ops": "batch_to_space_nd concat concat_v2 const edit_distance gather_v2 list_diff "
    "mirror_pad mirror_pad_grad one_hot pack pad placeholder placeholder_with_default "
    "quantize_and_dequantize_v2 rank ref_identity reverse_sequence reverse_v2 shape size split "
    "split_v strided_slice transpose unique_with_counts unpack where",
    "gen_control_flow_ops": "enter merge next_iteration ref_enter ref_switch switch",
    "gen_data_flow_ops": "dynamic_stitch fifo_queue_v2 queue_dequeue_v2 queue_enqueue_v2 stack_v2",
    "gen_image_ops": "decode_jpeg decode_png draw_bounding_boxes resize_bicubic_grad "
    "resize_bilinear_grad resize_nearest_neighbor_grad",
    "gen_io_ops": "restore restore_slice save save_slices",
    "gen_logging_ops": "audio_summary histogram_summary image_summary merge_summary scalar_summary "
    "tensor_summary",
    "gen_math_ops": "arg_max batch_mat_mul cast complex_abs inv_grad mat_mul mean mul neg prod "
    "reciprocal_grad rsqrt_grad sigmoid_grad sqrt_grad sub tanh_grad",
    "gen_nn_ops": "avg_pool avg_pool_grad conv3d elu_grad fused_batch_norm_grad lrn lrn_grad "
    "max_pool max_pool_grad max_pool_grad_grad max_pool_grad_with_argmax nth_element relu6_grad "
    "relu_grad selu_grad softmax_cross_entropy_with_logits softplus_grad softsign_grad "
    "sparse_softmax_cross_entropy_with_logits top_k top_kv2",
    "gen_random_ops": "multinomial random_shuffle random_standard_normal random_uniform "
    "random_uniform_int truncated_normal",
    "gen_script_ops": "py_func py_func_stateless",
    "gen_state_ops": "assign destroy_temporary_variable is_variable_initialized temporary_variable "
    "variable variable_v2",
}

ROWS = [
    row
    for module, names in _OPERATIONS.items()
    for row in alias(
        f"tf.python.ops.{module}",
        f"{_P}.{module}",
        " ".join(f"_{name}={name}" for name in names.split()),
    )
]
