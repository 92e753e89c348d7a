"""Training: hooks, session and loop of a run."""
