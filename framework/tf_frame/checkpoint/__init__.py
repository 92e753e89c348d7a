"""Checkpoints: found, written, taken as a warm start, and rewritten."""
