"""What a run does: setup, training, evaluation, prediction, export, warm start."""
