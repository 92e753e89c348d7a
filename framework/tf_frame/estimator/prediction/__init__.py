"""Predictions of a trained model, and the files that they are written to."""
