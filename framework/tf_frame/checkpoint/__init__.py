"""Checkpoints: finding, reading, writing, warm start, and rewriting (average, rename)."""
