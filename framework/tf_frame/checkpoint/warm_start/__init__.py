"""Initial values from another model's checkpoint."""
