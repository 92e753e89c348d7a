"""Makes new checkpoints from existing ones: an average of several, or renamed variables."""
