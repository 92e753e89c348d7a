"""Training of a `TrainingSetup`: graph, hooks, session, loop and last checkpoint."""
