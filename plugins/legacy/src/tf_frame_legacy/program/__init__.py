"""Runs old programs: their files, and no others, see the modules of TensorFlow 1."""
