"""Optimizer plugins (`--optimizer NAME`), which make `tf.compat.v1.train.Optimizer` objects."""
