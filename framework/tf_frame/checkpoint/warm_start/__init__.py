"""Initial values of variables from another model's checkpoint."""
