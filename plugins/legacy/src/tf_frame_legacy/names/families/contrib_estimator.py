"""tf.contrib.estimator; heads and canned estimators are in their own family."""

from tf_frame_legacy.names.row import not_offered, ours, reimplemented

_CONTRIB = "tf.contrib.estimator"
# The private package was part of TensorFlow until 1.12.
_PRIVATE = (
    "tf.contrib.estimator.python.estimator",
    "tensorflow_estimator.contrib.estimator.python.estimator",
)
_OURS = "tf_frame_legacy.contrib.estimator"
_EXPERIMENTAL = "tf_frame_legacy.estimator.experimental"
_STOPPING = (
    "make_early_stopping_hook stop_if_higher_hook stop_if_lower_hook stop_if_no_decrease_hook "
    "stop_if_no_increase_hook"
)


def _modules(name: str) -> tuple[str, ...]:
    return _CONTRIB, *(f"{package}.{name}" for package in _PRIVATE)


ROWS = [
    *ours(
        _modules("replicate_model_fn"),
        _OURS,
        "TowerOptimizer replicate_model_fn",
        note="the towers are tf-frame's clones",
    ),
    *ours(_modules("extenders"), "tf_frame_legacy.estimator", "add_metrics"),
    *reimplemented(_modules("extenders"), _OURS, "clip_gradients_by_norm forward_features"),
    *reimplemented(
        _modules("export"), _OURS, "export_all_saved_models export_saved_model_for_mode"
    ),
    *ours(
        _CONTRIB,
        _EXPERIMENTAL,
        "build_raw_supervised_input_receiver_fn build_supervised_input_receiver_fn_from_input_fn",
    ),
    *ours(
        _modules("hooks"),
        _EXPERIMENTAL,
        "InMemoryEvaluatorHook make_stop_at_checkpoint_step_hook",
    ),
    *ours(_modules("early_stopping"), _EXPERIMENTAL, _STOPPING),
    *reimplemented(
        (
            *_modules("early_stopping"),
            "tensorflow_estimator.python.estimator.early_stopping",
            "tf.python.estimator.early_stopping",
        ),
        _OURS,
        "read_eval_metrics",
    ),
    *not_offered(
        _CONTRIB,
        "SavedModelEstimator",
        "imports a SavedModel into a model function; use the code of the model, with "
        "warm_start_from=EXPORT/variables/variables",
    ),
]
