"""tf.estimator, and the private modules of tensorflow_estimator that programs import.

The canned estimators and the heads have their own family.
"""

from tf_frame_legacy.names.row import alias, not_offered, ours, reimplemented

_PACKAGES = ("tensorflow_estimator.python.estimator", "tf.python.estimator")
_HOOKS = (
    "CheckpointSaverHook FeedFnHook FinalOpsHook GlobalStepWaiterHook LoggingTensorHook "
    "NanTensorHook ProfilerHook StepCounterHook StopAtStepHook SummarySaverHook"
)
_LISTENERS = "CheckpointSaverListener NanLossDuringTrainingError SecondOrStepTimer"
_SESSIONS = "SessionRunArgs SessionRunContext SessionRunHook SessionRunValues"
_EARLY_STOPPING = (
    "make_early_stopping_hook stop_if_higher_hook stop_if_lower_hook stop_if_no_decrease_hook "
    "stop_if_no_increase_hook"
)
_SUPERVISED = (
    "build_raw_supervised_input_receiver_fn build_supervised_input_receiver_fn_from_input_fn"
)
_OUTPUTS = "ClassificationOutput EvalOutput ExportOutput PredictOutput RegressionOutput"
_RECEIVERS = (
    "ServingInputReceiver TensorServingInputReceiver build_parsing_serving_input_receiver_fn "
    "build_raw_serving_input_receiver_fn"
)
_OURS = "tf_frame_legacy.estimator"


def _modules(*names: str) -> tuple[str, ...]:
    """Returns the full names of modules of tensorflow_estimator, in the packages of all versions.

    Until TensorFlow 1.12 the package was `tensorflow.python.estimator`.
    """
    return tuple(f"{package}.{name}" for package in _PACKAGES for name in names)


_PUBLIC = ("tf.estimator", "tf.compat.v2.estimator")
_ROOTS = (*_PUBLIC, *_modules("estimator_lib"))

ROWS = [
    *ours(
        _ROOTS,
        _OURS,
        "Estimator EstimatorSpec EvalSpec Exporter FinalExporter LatestExporter ModeKeys RunConfig "
        "TrainSpec VocabInfo WarmStartSettings add_metrics train_and_evaluate",
    ),
    *ours(_PUBLIC, _OURS, f"BestExporter {_HOOKS}"),
    *ours(_PUBLIC, _OURS, f"{_LISTENERS} {_SESSIONS}"),
    *ours(_modules("estimator_lib"), _OURS, "inputs export"),
    *ours(_modules("estimator_lib"), "tf_frame_legacy.estimator.experimental", _EARLY_STOPPING),
    *ours(
        ("tf.estimator.inputs", *_modules("inputs.inputs")),
        "tf_frame_legacy.estimator.inputs",
        "numpy_input_fn pandas_input_fn",
    ),
    *ours(_modules("inputs.numpy_io"), "tf_frame_legacy.estimator.inputs", "numpy_input_fn"),
    *ours(_modules("inputs.pandas_io"), "tf_frame_legacy.estimator.inputs", "pandas_input_fn"),
    *ours(
        ("tf.estimator.export", "tf.compat.v2.estimator.export"),
        "tf_frame_legacy.estimator.export",
        f"{_OUTPUTS} {_RECEIVERS}",
    ),
    *ours(
        ("tf.estimator.experimental", "tf.compat.v2.estimator.experimental"),
        "tf_frame_legacy.estimator.experimental",
        "InMemoryEvaluatorHook call_logit_fn make_stop_at_checkpoint_step_hook "
        f"{_EARLY_STOPPING} {_SUPERVISED}",
    ),
    *ours(
        "tf.contrib.estimator",
        "tf_frame_legacy.estimator.experimental",
        "call_logit_fn",
    ),
    # The modules of the package.
    *ours(_modules("estimator"), _OURS, "Estimator VocabInfo WarmStartSettings"),
    *ours(_modules("estimator"), _OURS, "EstimatorV2=Estimator"),
    *reimplemented(
        _modules("estimator"),
        "tf_frame_legacy.estimator.util",
        "_load_global_step_from_checkpoint_dir=saved_global_step",
    ),
    *ours(
        _modules("estimator"),
        "tf_frame.estimator.model_function.model_factory",
        "_verify_model_fn_args=check_function",
    ),
    *ours(
        _modules("model_fn"),
        "tf_frame.estimator.model_function.model_factory",
        "verify_model_fn_args=check_function",
    ),
    *ours(_modules("model_fn"), _OURS, "EstimatorSpec ModeKeys"),
    *ours(
        _modules("model_fn"), "tf_frame_legacy.contrib.tpu", "_TPUEstimatorSpec=TPUEstimatorSpec"
    ),
    *reimplemented(
        _modules("model_fn"),
        "tf_frame_legacy.estimator.model_fn",
        "LOSS_METRIC_KEY AVERAGE_LOSS_METRIC_KEY",
    ),
    *ours(_modules("mode_keys"), _OURS, "ModeKeys"),
    *ours(_modules("run_config"), _OURS, "RunConfig"),
    *ours(_modules("run_config"), "tf_frame.cluster.tf_config", "TaskType"),
    *ours(
        _modules("run_config"),
        "tf_frame.estimator.run_config.options",
        "get_default_session_config=default_session_config",
    ),
    *ours(_modules("training"), _OURS, "EvalSpec TrainSpec train_and_evaluate"),
    *ours(_modules("exporter"), _OURS, "BestExporter Exporter FinalExporter LatestExporter"),
    *ours(_modules("extenders"), _OURS, "add_metrics"),
    *ours(_modules("early_stopping"), "tf_frame_legacy.estimator.experimental", _EARLY_STOPPING),
    *ours(
        _modules("hooks.hooks"),
        "tf_frame_legacy.estimator.experimental",
        "InMemoryEvaluatorHook make_stop_at_checkpoint_step_hook",
    ),
    *ours(_modules("hooks.basic_session_run_hooks"), _OURS, f"{_HOOKS} {_LISTENERS}"),
    *ours(_modules("hooks.session_run_hook"), _OURS, _SESSIONS),
    *ours(
        _modules("export.export", "export.export_lib"),
        "tf_frame.estimator.export",
        f"{_RECEIVERS} {_SUPERVISED} SupervisedInputReceiver UnsupervisedInputReceiver",
    ),
    *ours(
        _modules("export.export_output", "export.export_lib"),
        "tf_frame.estimator.export",
        f"{_OUTPUTS} TrainOutput",
    ),
    *alias(
        _modules("export.export", "export.export_lib"),
        "tensorflow.python.saved_model.model_utils.export_utils",
        "get_temp_export_dir get_timestamped_export_dir",
    ),
    *alias(_modules("util"), "tensorflow.python.util.function_utils", "fn_args"),
    *reimplemented(
        _modules("util"),
        "tf_frame_legacy.estimator.util",
        "MultiHostDatasetInitializerHook _DatasetInitializerHook=DatasetInitializerHook "
        "parse_input_fn_result parse_iterator_result",
    ),
    *reimplemented(
        _modules("gc"),
        "tf_frame_legacy.estimator.gc",
        "Path _get_paths _largest_export_versions _mod_export_version _negation "
        "_one_of_every_n_export_versions _union",
    ),
    *not_offered(
        _modules("estimator", "model_fn", "run_config", "training", "util", "gc", "exporter"),
        "*",
        "a private part of tensorflow_estimator; tf-frame's Estimator has other parts",
    ),
    *not_offered(
        _modules("early_stopping", "export.export", "export.export_lib"),
        "*",
        "a private part of tensorflow_estimator; tf-frame's Estimator has other parts",
    ),
    *not_offered(
        _modules("inputs.queues.feeding_functions", "inputs.queues.feeding_queue_runner"),
        "*",
        "the input functions of arrays read them by tf.data, without queues",
    ),
    *not_offered(
        _modules("tools.analytics", "tools.checkpoint_converter"),
        "*",
        "a tool of tensorflow_estimator; it has no user in training programs",
    ),
]
