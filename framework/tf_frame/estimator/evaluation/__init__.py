"""Evaluation: of checkpoints, in a graph that is reused, and in memory during training."""
