"""tf.contrib.learn, and the tutorial module that reads MNIST."""

from tf_frame_legacy.names.row import alias, not_offered, ours, reimplemented

_CONTRIB = "tf.contrib.learn"
_PRIVATE = "tf.contrib.learn.python.learn"
_OURS = "tf_frame_legacy.contrib.learn"
_CANNED = "stands on tf.estimator's; variables have its names, so older checkpoints do not restore"
_READERS = "a queue of several sessions; use read_batch_features, or tf.data"
_ACTIONS = "a training loop of its own; use an Estimator, or slim.learning.train"
_ROOTS = (_CONTRIB, _PRIVATE)
_IO = (f"{_CONTRIB}.io", f"{_PRIVATE}.learn_io")


def _modules(*names: str) -> tuple[str, ...]:
    return (*_ROOTS, *(f"{_PRIVATE}.{name}" for name in names))


ROWS = [
    *reimplemented(_modules("estimators", "estimators.model_fn"), _OURS, "ModeKeys ModelFnOps"),
    *reimplemented(
        _modules("estimators", "estimators.run_config"), _OURS, "RunConfig TaskType Environment"
    ),
    *reimplemented(_modules("metric_spec"), _OURS, "MetricSpec"),
    *reimplemented(
        _modules("experiment"),
        _OURS,
        "Experiment",
        note="evaluates each checkpoint that is saved, or only the last one",
    ),
    *reimplemented(_modules("export_strategy"), _OURS, "ExportStrategy"),
    *reimplemented(
        (
            *_modules("utils", "utils.saved_model_export_utils"),
            f"{_CONTRIB}.utils",
            f"{_CONTRIB}.utils.saved_model_export_utils",
        ),
        _OURS,
        "make_export_strategy",
        note="for functions that return a ServingInputReceiver",
    ),
    *reimplemented(
        _modules("estimators", "estimators.estimator"),
        _OURS,
        "Estimator SKCompat",
        note="stands on tf.estimator's Estimator; takes session hooks, not monitors",
    ),
    *reimplemented(_modules("estimators", "estimators.constants"), _OURS, "ProblemType"),
    *reimplemented(_modules("estimators", "estimators.prediction_key"), _OURS, "PredictionKey"),
    *reimplemented(_modules("estimators", "estimators.metric_key"), _OURS, "MetricKey"),
    *reimplemented(_ROOTS, _OURS, "datasets learn_runner preprocessing"),
    *reimplemented(
        tuple(f"{root}.learn_runner" for root in _ROOTS),
        "tf_frame_legacy.contrib.learn.learn_runner",
        "run tune",
    ),
    *reimplemented(
        tuple(
            f"{root}.{module}"
            for root in _ROOTS
            for module in ("preprocessing", "preprocessing.text")
        ),
        "tf_frame_legacy.contrib.learn.preprocessing",
        "VocabularyProcessor tokenizer",
    ),
    *reimplemented(
        tuple(
            f"{root}.{module}"
            for root in _ROOTS
            for module in ("preprocessing", "preprocessing.categorical_vocabulary")
        ),
        "tf_frame_legacy.contrib.learn.preprocessing",
        "CategoricalVocabulary",
    ),
    *reimplemented(
        tuple(f"{root}.datasets" for root in _ROOTS),
        "tf_frame_legacy.contrib.learn.datasets",
        "base mnist",
    ),
    *reimplemented(
        tuple(f"{root}.datasets.base" for root in _ROOTS),
        "tf_frame_legacy.contrib.learn.datasets.base",
        "Dataset Datasets load_csv_with_header load_csv_without_header maybe_download",
    ),
    *reimplemented(
        tuple(f"{root}.datasets.mnist" for root in _ROOTS),
        "tf_frame_legacy.contrib.learn.datasets.mnist",
        "DEFAULT_SOURCE_URL DataSet dense_to_one_hot extract_images extract_labels load_mnist "
        "read_data_sets",
    ),
    *reimplemented(
        "tf.examples.tutorials.mnist.input_data",
        "tf_frame_legacy.contrib.learn.datasets.mnist",
        "read_data_sets",
    ),
    *reimplemented(
        "tf.examples.tutorials.mnist.mnist",
        "tf_frame_legacy.contrib.learn.datasets.mnist_model",
        "IMAGE_PIXELS IMAGE_SIZE NUM_CLASSES evaluation inference loss training",
    ),
    *alias(_modules("monitors"), "tensorflow.compat.v1.train", "NanLossDuringTrainingError"),
    *reimplemented(
        (f"{_CONTRIB}.monitors", f"{_PRIVATE}.monitors"),
        f"{_OURS}.monitors",
        "ValidationMonitor",
    ),
    *alias(
        (f"{_CONTRIB}.monitors", f"{_PRIVATE}.monitors"),
        "tensorflow.compat.v1.train",
        "CheckpointSaver=CheckpointSaverHook NanLoss=NanTensorHook "
        "StepCounter=StepCounterHook StopAtStep=StopAtStepHook SummarySaver="
        "SummarySaverHook",
        note="a session hook, with the arguments of the hook",
    ),
    *alias(
        f"{_PRIVATE}.basic_session_run_hooks",
        "tensorflow.compat.v1.train",
        "CheckpointSaverHook CheckpointSaverListener FeedFnHook FinalOpsHook GlobalStepWaiterHook "
        "LoggingTensorHook NanLossDuringTrainingError NanTensorHook SecondOrStepTimer "
        "StepCounterHook StopAtStepHook SummarySaverHook",
    ),
    *ours(
        _CONTRIB,
        "tf_frame_legacy.estimator.export",
        "build_parsing_serving_input_fn=build_parsing_serving_input_receiver_fn",
        note="returns a function of a ServingInputReceiver",
    ),
    *reimplemented(
        _modules(
            "estimators",
            "estimators.dnn",
            "estimators.linear",
            "estimators.dnn_linear_combined",
        ),
        f"{_OURS}.canned",
        "DNNClassifier DNNLinearCombinedClassifier DNNLinearCombinedRegressor DNNRegressor "
        "LinearClassifier LinearRegressor",
        note=_CANNED,
    ),
    *reimplemented(
        _modules("estimators", "estimators.estimator"),
        f"{_OURS}.canned",
        "infer_real_valued_columns_from_input infer_real_valued_columns_from_input_fn",
    ),
    *not_offered(
        _CONTRIB,
        "DNNEstimator DNNLinearCombinedEstimator LinearEstimator",
        "an estimator for heads of ModelFnOps; tf.estimator has it for heads of EstimatorSpec",
    ),
    *not_offered(
        _CONTRIB,
        "DynamicRnnEstimator KMeansClustering LogisticRegressor SVM StateSavingRnnEstimator",
        "a canned estimator without a successor; write a model function",
    ),
    *not_offered(
        _CONTRIB,
        "BaseEstimator Evaluable Trainable GraphRewriteSpec InputFnOps NotFittedError "
        "PredictionType ClusterConfig",
        "a part of the original Estimator; use Estimator, RunConfig and ServingInputReceiver",
    ),
    *not_offered(
        _CONTRIB,
        "Head binary_svm_head loss_only_head multi_class_head multi_head multi_label_head "
        "no_op_train_fn poisson_regression_head regression_head head",
        "a head of ModelFnOps; tf.estimator has heads of EstimatorSpec",
    ),
    *not_offered(
        _CONTRIB,
        "evaluate infer run_feeds run_n train graph_actions models ops",
        _ACTIONS,
    ),
    *reimplemented(
        (*_ROOTS, *_IO, f"{_PRIVATE}.learn_io.graph_io"),
        f"{_OURS}.readers",
        "queue_parsed_features read_batch_examples read_batch_features read_batch_record_features "
        "read_keyed_batch_examples read_keyed_batch_features",
    ),
    *ours(_IO, "tf_frame_legacy.estimator.inputs", "numpy_input_fn pandas_input_fn"),
    *ours(f"{_PRIVATE}.learn_io.numpy_io", "tf_frame_legacy.estimator.inputs", "numpy_input_fn"),
    *ours(f"{_PRIVATE}.learn_io.pandas_io", "tf_frame_legacy.estimator.inputs", "pandas_input_fn"),
    *not_offered(
        _CONTRIB,
        "extract_dask_data extract_dask_labels extract_pandas_data extract_pandas_labels "
        "extract_pandas_matrix",
        "use tf.estimator.inputs.pandas_input_fn or numpy_input_fn, and "
        "tf.feature_column.numeric_column",
    ),
    *not_offered(
        _CONTRIB,
        "read_keyed_batch_examples_shared_queue read_keyed_batch_features_shared_queue",
        _READERS,
    ),
    *not_offered(
        tuple(f"{root}.monitors" for root in _ROOTS),
        "*",
        "monitors were replaced by session hooks (tf.train.LoggingTensorHook, "
        "tf.estimator.train_and_evaluate for ValidationMonitor)",
    ),
    *not_offered(
        tuple(f"{root}.datasets" for root in _ROOTS),
        "*",
        "TensorFlow has neither the files nor their addresses; read the data by tf.data",
    ),
    *not_offered(
        (f"{_CONTRIB}.utils", f"{_CONTRIB}.utils.saved_model_export_utils"),
        "*",
        "helpers of exports; use Estimator.export_saved_model",
    ),
    *not_offered(
        tuple(f"{root}.estimators" for root in _ROOTS),
        "*",
        "a part of the original Estimator; tf.estimator has estimators and heads",
    ),
]
