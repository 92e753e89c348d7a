"""Devices of inputs, clones, variables and the optimizer."""
