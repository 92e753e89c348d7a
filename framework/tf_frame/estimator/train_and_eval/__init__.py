"""`train_and_evaluate`: each task of a job trains, evaluates or serves."""
