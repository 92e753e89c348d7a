"""Hooks of the training session, one a file."""
