"""`tf-frame sweep`: many trials of a run, on Optuna."""
