"""The hooks of a training."""
