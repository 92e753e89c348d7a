"""Modules of old trainers: slim's model_deploy, the Object Detection API, DeepLab, ASTER.

Most programs bring these modules along; then their own are used.
"""

from tf_frame_legacy.names.row import ours

_DETECTION = "tf_frame_detection.legacy"
_RECOGNITION = "tf_frame_recognition.legacy"
_TRAINER = "train create_input_queue get_inputs create_losses"
_EXTRA = "needs tf-frame-detection[legacy]"

ROWS = [
    *ours(
        ("deployment.model_deploy", "slim.deployment.model_deploy"),
        "tf_frame_legacy.model_deploy",
        "DeploymentConfig Clone DeployedModel create_clones optimize_clones deploy",
    ),
    *ours("object_detection.core.batcher", "tf_frame_legacy.batcher", "BatchQueue"),
    *ours("object_detection.core.prefetcher", "tf_frame_legacy.prefetcher", "prefetch"),
    *ours(
        "object_detection.utils.variables_helper",
        "tf_frame_legacy.variables_helper",
        "filter_variables multiply_gradients_matching_regex freeze_gradients_matching_regex "
        "get_variables_available_in_checkpoint get_global_variables_safely "
        "ensure_checkpoint_supported",
    ),
    *ours(
        "object_detection.utils.learning_schedules",
        "tf_frame_legacy.learning_schedules",
        "exponential_decay_with_burnin exponential_decay_with_warmup manual_stepping "
        "cosine_decay_with_warmup",
    ),
    *ours(
        "object_detection.builders.optimizer_builder", "tf_frame_legacy.optimizer_builder", "build"
    ),
    *ours(
        ("object_detection.legacy.trainer", "object_detection.trainer"),
        f"{_DETECTION}.trainer",
        _TRAINER,
        _EXTRA,
    ),
    *ours("object_detection.core.model", f"{_DETECTION}.model", "DetectionModel", _EXTRA),
    *ours("object_detection.core.preprocessor", f"{_DETECTION}.preprocessor", "preprocess", _EXTRA),
    *ours(
        "object_detection.core.standard_fields",
        f"{_DETECTION}.standard_fields",
        "InputDataFields BoxListFields DetectionResultFields PredictionFields TfExampleFields",
        _EXTRA,
    ),
    *ours(
        "object_detection.utils.label_map_util",
        f"{_DETECTION}.label_map_util",
        "load_labelmap get_label_map_dict get_keypoint_label_map_dict get_max_label_map_index "
        "get_label_map_hierarchy_lut convert_label_map_to_categories "
        "create_categories_from_labelmap create_category_index "
        "create_category_index_from_labelmap create_class_agnostic_category_index",
        _EXTRA,
    ),
    *ours(
        "rare.trainer", f"{_RECOGNITION}.trainer", _TRAINER, "needs tf-frame-recognition[legacy]"
    ),
    *ours(
        "rare.core.standard_fields",
        f"{_RECOGNITION}.standard_fields",
        "InputDataFields",
        "needs tf-frame-recognition[legacy]",
    ),
    *ours(
        ("deeplab.utils.train_utils", "utils.train_utils"),
        "tf_frame_legacy.train_utils",
        "get_model_learning_rate get_model_gradient_multipliers get_model_init_fn",
    ),
    *ours(
        ("deeplab.utils.train_utils", "utils.train_utils"),
        "tf_frame_legacy.scale_losses",
        "add_softmax_cross_entropy_loss_for_each_scale get_label_weight_mask",
    ),
    *ours(
        ("tf.train", "tf.python.training.server_lib"),
        "tf_frame_legacy.server",
        "Server",
        "parameter servers end with the job",
    ),
    *ours(
        ("tf.train", "tf.python.training.sync_replicas_optimizer"),
        "tf_frame_legacy.sync_replicas",
        "SyncReplicasOptimizer",
        "the chief and all workers end with the job",
    ),
]
