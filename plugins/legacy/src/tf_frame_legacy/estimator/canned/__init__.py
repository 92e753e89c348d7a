"""The canned estimators of `tf.estimator`."""
