"""Builds the graphs for training and inference: inputs, clones, losses, gradients, update."""
