"""New checkpoints made of existing ones: averaged, renamed, compared."""
