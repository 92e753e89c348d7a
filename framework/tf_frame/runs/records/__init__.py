"""Facts about many runs, read without TensorFlow: states, metrics, options that differ."""
