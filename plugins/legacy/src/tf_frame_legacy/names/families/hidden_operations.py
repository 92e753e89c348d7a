"""Operations that `tensorflow.python.ops.gen_*_ops` hid behind an underscore until TensorFlow 1.5.

Programs use them for gradients of their own (`gen_nn_ops._relu_grad`) and for summaries with names
that are tensors (`gen_logging_ops._image_summary`). Names that still have the underscore, such as
`gen_math_ops._sum`, need no row.
"""

from tf_frame_legacy.names.row import alias

_OPS = {
    "array": "batch_to_space batch_to_space_nd broadcast_args broadcast_gradient_args concat "
    "concat_offset concat_v2 conjugate_transpose const edit_distance expand_dims gather_v2 "
    "list_diff mirror_pad mirror_pad_grad one_hot pack pad pad_v2 parallel_concat placeholder "
    "placeholder_with_default quantize_and_dequantize_v2 rank ref_identity reverse "
    "reverse_sequence reverse_v2 shape size snapshot space_to_batch split split_v squeeze "
    "strided_slice tile_grad transpose unique unique_v2 unique_with_counts unpack where "
    "zeros_like",
    "candidate_sampling": "all_candidate_sampler compute_accidental_hits "
    "fixed_unigram_candidate_sampler "
    "learned_unigram_candidate_sampler log_uniform_candidate_sampler "
    "thread_unsafe_unigram_candidate_sampler uniform_candidate_sampler",
    "control_flow": "enter merge next_iteration ref_enter ref_exit ref_merge ref_switch switch",
    "ctc": "ctc_beam_search_decoder ctc_greedy_decoder ctc_loss",
    "data_flow": "dynamic_stitch fifo_queue_v2 queue_dequeue_v2 queue_enqueue_v2 stack_v2",
    "image": "adjust_contrastv2 decode_jpeg decode_png draw_bounding_boxes non_max_suppression "
    "non_max_suppression_v2 random_crop resize_bicubic_grad resize_bilinear_grad "
    "resize_nearest_neighbor_grad sample_distorted_bounding_box "
    "sample_distorted_bounding_box_v2",
    "io": "restore restore_slice save save_slices",
    "linalg": "log_matrix_determinant matrix_exponential matrix_logarithm matrix_solve_ls "
    "self_adjoint_eig self_adjoint_eig_v2 svd",
    "logging": "audio_summary audio_summary_v2 histogram_summary image_summary merge_summary "
    "scalar_summary tensor_summary tensor_summary_v2",
    "math": "accumulate_nv2 add_n add_v2 arg_max batch_mat_mul bucketize cast complex_abs conj "
    "floor_div floor_mod inv_grad mat_mul mean mul neg prod real_div reciprocal_grad "
    "rsqrt_grad select sigmoid sigmoid_grad sparse_mat_mul sqrt_grad sub tanh tanh_grad "
    "truncate_div truncate_mod",
    "nn": "avg_pool avg_pool3d_grad avg_pool_grad batch_norm_with_global_normalization_grad "
    "bias_add bias_add_v1 conv3d elu_grad fractional_avg_pool_grad fractional_max_pool_grad "
    "fused_batch_norm_grad fused_batch_norm_v2 in_top_k in_top_kv2 log_softmax lrn lrn_grad "
    "max_pool max_pool3d_grad max_pool3d_grad_grad max_pool_grad max_pool_grad_grad "
    "max_pool_grad_grad_with_argmax max_pool_grad_with_argmax max_pool_v2 nth_element relu6 "
    "relu6_grad relu_grad selu_grad softmax softmax_cross_entropy_with_logits softplus_grad "
    "softsign_grad sparse_softmax_cross_entropy_with_logits top_k top_kv2",
    "random": "multinomial parameterized_truncated_normal random_gamma random_poisson "
    "random_shuffle "
    "random_standard_normal random_uniform random_uniform_int truncated_normal",
    "script": "eager_py_func py_func py_func_stateless",
    "sparse": "sparse_add sparse_add_grad sparse_concat sparse_cross sparse_reorder sparse_reshape "
    "sparse_split sparse_tensor_dense_add sparse_tensor_dense_mat_mul sparse_to_dense",
    "state": "assign destroy_temporary_variable is_variable_initialized temporary_variable "
    "variable "
    "variable_v2",
}

ROWS = [
    row
    for group, names in _OPS.items()
    for row in alias(
        f"tf.python.ops.gen_{group}_ops",
        f"tensorflow.python.ops.gen_{group}_ops",
        " ".join(f"_{name}={name}" for name in names.split()),
    )
]
