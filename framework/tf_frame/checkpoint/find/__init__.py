"""Checkpoints of a folder: found, opened, and compared with a graph."""
