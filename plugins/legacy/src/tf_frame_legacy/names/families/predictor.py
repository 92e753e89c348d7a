"""tf.contrib.predictor."""

from tf_frame_legacy.names.row import not_offered, reimplemented

ROWS = [
    *reimplemented(
        ("tf.contrib.predictor", "tf.contrib.predictor.predictor_factories"),
        "tf_frame_legacy.contrib.predictor",
        "from_estimator from_saved_model",
    ),
    *reimplemented(
        "tf.contrib.predictor.predictor", "tf_frame_legacy.contrib.predictor", "Predictor"
    ),
    *not_offered(
        ("tf.contrib.predictor", "tf.contrib.predictor.predictor_factories"),
        "from_contrib_estimator",
        "for estimators of tf.contrib.learn; use from_estimator with one of tf.estimator",
    ),
]
