"""Graphs for evaluation, prediction and export."""
