"""Initial values from the checkpoint of another model."""
