"""Predictions of a trained model, and the files they are written to."""
