"""Writes checkpoints atomically, and deletes old ones by the retention rules."""
