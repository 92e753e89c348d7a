"""Built-in optimizer plugins; each makes a `tf.compat.v1.train.Optimizer`."""
