"""Evaluation of checkpoints, one after the other, in one kept graph."""
