"""Instances: labels for training, grouping of pixels, quality, pictures."""
