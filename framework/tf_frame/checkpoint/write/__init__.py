"""Writing of checkpoints: whole or not at all, and the retention of old ones."""
