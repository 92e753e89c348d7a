"""Published weights: where they are, the cache of downloads, and their values as checkpoints."""
