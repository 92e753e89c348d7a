"""Formats of annotated images that other programs export, for inputs of boxes and of masks.

Nothing here imports TensorFlow.
"""
