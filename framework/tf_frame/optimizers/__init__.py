"""Optimizers by name; each wraps or is a `tf.compat.v1.train.Optimizer`."""
