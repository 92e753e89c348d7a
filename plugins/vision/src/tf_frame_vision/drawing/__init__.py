"""Colours of classes, overlays and PNG files; nothing here imports TensorFlow."""
