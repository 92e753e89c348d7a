"""`train_and_evaluate`, and what each task of a cluster does in it."""
