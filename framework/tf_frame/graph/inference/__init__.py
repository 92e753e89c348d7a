"""Graphs that evaluate, predict or are exported."""
