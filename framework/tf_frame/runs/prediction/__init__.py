"""Prediction on files and on data."""
