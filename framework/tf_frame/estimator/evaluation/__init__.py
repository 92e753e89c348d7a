"""Evaluation of checkpoints in a kept graph, and of a training session's variables."""
