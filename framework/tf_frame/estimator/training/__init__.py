"""Training of one setup: from its graph to its last checkpoint."""
