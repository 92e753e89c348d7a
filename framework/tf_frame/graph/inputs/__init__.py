"""Builds the input pipeline, and saves its position (the iterator state) in checkpoints."""
