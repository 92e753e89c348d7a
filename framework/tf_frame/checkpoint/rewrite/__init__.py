"""New checkpoints from existing ones: averaged, renamed."""
