"""Hooks of `tf.compat.v1.train` that run only at the steps that they need."""
