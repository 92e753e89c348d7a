"""Adapters that make plugins of tf.estimator's model functions and input functions."""
