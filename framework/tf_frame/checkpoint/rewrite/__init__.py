"""New checkpoints from existing ones: averaged, renamed; and compared."""
