"""Placement on devices: inputs, clones (replicas of the model in one graph), variables, updates."""
