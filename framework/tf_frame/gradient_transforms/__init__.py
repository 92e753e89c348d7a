"""Gradient transforms: what happens to gradients between their sum and the update."""
