"""Inputs, clones, loss, gradients, transforms and update as one graph."""
