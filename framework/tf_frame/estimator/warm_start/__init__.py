"""Initial values from another model's checkpoint, by options or by `WarmStartSettings`."""
