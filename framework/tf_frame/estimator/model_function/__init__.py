"""Model functions and input functions of tf.estimator in the place of plugins."""
