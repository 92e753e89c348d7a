"""tf.contrib.training."""

from tf_frame_legacy.names.row import ours

ROWS = [
    *ours(
        "tf.contrib.training",
        "tf_frame_legacy.training",
        "train create_train_op clip_gradient_norms clip_gradient_norms_fn multiply_gradients "
        "add_gradients_summaries evaluate_once evaluate_repeatedly wait_for_new_checkpoint "
        "checkpoints_iterator StopAfterNEvalsHook SummaryAtEndHook get_or_create_eval_step "
        "HParams parse_values",
    ),
]
