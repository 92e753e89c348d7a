"""Checkpoints: which one to resume from, and whether it fits the graph."""
