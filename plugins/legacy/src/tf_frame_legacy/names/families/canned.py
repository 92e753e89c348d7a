"""Canned estimators and heads of tf.estimator and tf.contrib.estimator."""

from tf_frame_legacy.names.row import not_offered, reimplemented

_ESTIMATOR = "tf.estimator"
_CONTRIB = "tf.contrib.estimator"
_PRIVATE = "tensorflow_estimator.python.estimator"
_CANNED = f"{_PRIVATE}.canned"
_FACTORIZATION = "tf.contrib.factorization"
_HEADS = "tf_frame_legacy.estimator.heads"
_OURS = "tf_frame_legacy.estimator.canned"
_V2_METRICS = (
    "one class for both generations of heads: `create_loss` and `loss`; metrics are tf.metrics, "
    "so that `metrics()` is empty and `update_metrics` makes them"
)


def _module(name: str) -> tuple[str, ...]:
    """Returns a private module under its two names."""
    return f"{_CANNED}.{name}", f"tf.python.estimator.canned.{name}"


ROWS = [
    *reimplemented(
        (_ESTIMATOR, *_module("dnn")), f"{_OURS}.dnn", "DNNClassifier DNNEstimator DNNRegressor"
    ),
    *reimplemented(
        (_ESTIMATOR, *_module("linear")),
        f"{_OURS}.linear",
        "LinearClassifier LinearEstimator LinearRegressor",
    ),
    *reimplemented(
        (_ESTIMATOR, *_module("dnn_linear_combined")),
        f"{_OURS}.dnn_linear_combined",
        "DNNLinearCombinedClassifier DNNLinearCombinedEstimator DNNLinearCombinedRegressor",
    ),
    *reimplemented(
        (_ESTIMATOR, *_module("baseline")),
        f"{_OURS}.baseline",
        "BaselineClassifier BaselineEstimator BaselineRegressor",
    ),
    *reimplemented(_CONTRIB, f"{_OURS}.dnn", "DNNEstimator"),
    *reimplemented(_CONTRIB, f"{_OURS}.linear", "LinearEstimator"),
    *reimplemented(_CONTRIB, f"{_OURS}.dnn_linear_combined", "DNNLinearCombinedEstimator"),
    *reimplemented(_CONTRIB, f"{_OURS}.baseline", "BaselineEstimator"),
    *reimplemented(
        (_ESTIMATOR, *_module("parsing_utils")),
        f"{_OURS}.parsing_utils",
        "classifier_parse_example_spec regressor_parse_example_spec",
    ),
    *reimplemented(
        (f"{_ESTIMATOR}.experimental", _CONTRIB, *_module("dnn")),
        f"{_OURS}.dnn",
        "dnn_logit_fn_builder",
    ),
    *reimplemented(
        (f"{_ESTIMATOR}.experimental", _CONTRIB, *_module("linear")),
        f"{_OURS}.linear",
        "linear_logit_fn_builder",
    ),
    *reimplemented(_module("dnn"), f"{_OURS}.dnn", "_dnn_model_fn=dnn_model_fn"),
    *reimplemented(_module("linear"), f"{_OURS}.linear", "_linear_model_fn=linear_model_fn"),
    *reimplemented(
        _module("dnn_linear_combined"),
        f"{_OURS}.dnn_linear_combined",
        "_dnn_linear_combined_model_fn=dnn_linear_combined_model_fn",
    ),
    *reimplemented(_module("optimizers"), f"{_OURS}.optimizers", "get_optimizer_instance"),
    *reimplemented(_module("prediction_keys"), f"{_HEADS}.keys", "PredictionKeys"),
    *reimplemented(_module("metric_keys"), f"{_HEADS}.keys", "MetricKeys"),
    *reimplemented(
        _module("head"),
        f"{_HEADS}.functions",
        "_binary_logistic_head_with_sigmoid_cross_entropy_loss=summed_binary_head "
        "_binary_logistic_or_multi_class_head=binary_or_multi_class_head "
        "_multi_class_head_with_softmax_cross_entropy_loss=summed_multi_class_head "
        "_regression_head=summed_regression_head",
    ),
    *reimplemented(_module("head"), f"{_HEADS}.head", "LossSpec _Head=Head"),
    *reimplemented(
        (_ESTIMATOR, f"{_PRIVATE}.head.base_head"), f"{_HEADS}.head", "Head", note=_V2_METRICS
    ),
    *reimplemented(
        (_ESTIMATOR, f"{_PRIVATE}.head.binary_class_head"),
        _HEADS,
        "BinaryClassHead",
        note=_V2_METRICS,
    ),
    *reimplemented(
        (_ESTIMATOR, f"{_PRIVATE}.head.multi_class_head"), _HEADS, "MultiClassHead", _V2_METRICS
    ),
    *reimplemented(
        (_ESTIMATOR, f"{_PRIVATE}.head.multi_label_head"), _HEADS, "MultiLabelHead", _V2_METRICS
    ),
    *reimplemented((_ESTIMATOR, f"{_PRIVATE}.head.multi_head"), _HEADS, "MultiHead", _V2_METRICS),
    *reimplemented(
        (_ESTIMATOR, f"{_PRIVATE}.head.regression_head"),
        _HEADS,
        "LogisticRegressionHead PoissonRegressionHead RegressionHead",
        _V2_METRICS,
    ),
    *reimplemented(
        (_CONTRIB, f"{_CONTRIB}.python.estimator.head"),
        _HEADS,
        "binary_classification_head logistic_regression_head multi_class_head multi_label_head "
        "poisson_regression_head regression_head",
    ),
    *reimplemented((_CONTRIB, f"{_CONTRIB}.python.estimator.multi_head"), _HEADS, "multi_head"),
    *reimplemented(
        ("tf.keras.estimator", f"{_PRIVATE}.keras", "tf.python.estimator.keras"),
        f"{_OURS}.keras",
        "model_to_estimator",
        note="for sequential and functional models of Keras 2 and 3",
    ),
    *not_offered(
        (_CONTRIB, *_module("rnn"), f"{_ESTIMATOR}.experimental"),
        "RNNClassifier RNNEstimator",
        "stand on sequence columns and Keras 2 cells; use a model function with "
        "tf.nn.dynamic_rnn and a head",
    ),
    *not_offered(
        (_ESTIMATOR, *_module("boosted_trees")),
        "BoostedTreesClassifier BoostedTreesEstimator BoostedTreesRegressor",
        "TensorFlow has removed the operations; use TensorFlow Decision Forests or XGBoost",
    ),
    *not_offered(
        _CONTRIB,
        "boosted_trees_classifier_train_in_memory boosted_trees_regressor_train_in_memory",
        "TensorFlow has removed the operations; use TensorFlow Decision Forests or XGBoost",
    ),
    *not_offered(
        _CONTRIB,
        "DNNClassifierWithLayerAnnotations DNNRegressorWithLayerAnnotations",
        "hardly used; use DNNClassifier and DNNRegressor",
    ),
    *reimplemented(f"{_ESTIMATOR}.experimental", f"{_OURS}.kmeans", "KMeans=KMeansClustering"),
    *reimplemented(
        (*_module("kmeans"), _FACTORIZATION, f"{_FACTORIZATION}.python.ops.kmeans"),
        f"{_OURS}.kmeans",
        "KMeansClustering",
    ),
    *reimplemented(
        (_FACTORIZATION, f"{_FACTORIZATION}.python.ops.clustering_ops"),
        "tf_frame_legacy.contrib.factorization",
        "COSINE_DISTANCE KMEANS_PLUS_PLUS_INIT KMeans RANDOM_INIT SQUARED_EUCLIDEAN_DISTANCE",
    ),
    *not_offered(
        _FACTORIZATION,
        "GMM GmmAlgorithm gmm",
        "use scikit-learn's GaussianMixture",
    ),
    *not_offered(
        _FACTORIZATION,
        "WALSMatrixFactorization WALSModel",
        "TensorFlow has removed the operations; use embeddings with tf.nn.embedding_lookup",
    ),
    *not_offered(
        (f"{_ESTIMATOR}.experimental", *_module("linear")),
        "LinearSDCA",
        'its state is no variable; use optimizer="Ftrl"',
    ),
]
