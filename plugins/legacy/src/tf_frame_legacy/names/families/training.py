"""tf.contrib.training: training, evaluation and hyperparameters."""

from tf_frame_legacy.names.row import ours

_PRIVATE = "tf.contrib.training.python.training"
# Private module -> its names, which are public, too.
_MODULES = {
    "training": "train create_train_op clip_gradient_norms clip_gradient_norms_fn "
    "multiply_gradients add_gradients_summaries",
    "evaluation": "evaluate_once evaluate_repeatedly wait_for_new_checkpoint checkpoints_iterator "
    "StopAfterNEvalsHook SummaryAtEndHook get_or_create_eval_step",
    "hparam": "HParams parse_values",
}

ROWS = [
    *(
        row
        for module, names in _MODULES.items()
        for row in ours(
            ("tf.contrib.training", f"{_PRIVATE}.{module}"), "tf_frame_legacy.training", names
        )
    ),
    *ours(
        "tf_slim.evaluation",
        "tf_frame_legacy.training",
        "StopAfterNEvalsHook SummaryAtEndHook evaluate_repeatedly",
    ),
    *ours("tf_slim.training.evaluation", "tf_frame_legacy.training", _MODULES["evaluation"]),
]
