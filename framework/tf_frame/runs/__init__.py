"""The parts of a run: setup, training, evaluation, prediction, export, warm start."""
