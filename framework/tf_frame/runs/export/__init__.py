"""Export of checkpoints as models for serving and for other programs."""
