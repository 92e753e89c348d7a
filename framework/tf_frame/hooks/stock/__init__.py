"""Hooks with the names and arguments of TensorFlow's, without their cost in every step."""
