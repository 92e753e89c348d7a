"""Built-in optimizer plugins (`--optimizer NAME`); each makes a `tf.compat.v1.train.Optimizer`."""
