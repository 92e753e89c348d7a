"""Gradients of the clones, their transforms, and one update of the variables."""
