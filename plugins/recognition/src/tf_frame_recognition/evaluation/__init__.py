"""Metrics, prediction files and pictures of recognised words."""
