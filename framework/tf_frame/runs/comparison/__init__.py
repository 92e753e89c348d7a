"""Comparisons of runs, without TensorFlow: options, metrics, curves, speed, and a verdict."""
