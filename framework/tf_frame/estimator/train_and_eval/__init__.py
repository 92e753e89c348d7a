"""`train_and_evaluate`, and the part of each task of a cluster in it."""
