"""Warm start: initial values of variables from another model's checkpoint."""
