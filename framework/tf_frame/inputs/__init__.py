"""Inputs of tf-frame's own."""
