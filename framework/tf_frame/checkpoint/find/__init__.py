"""Finds checkpoints in a folder, reads them, and compares them with a graph."""
