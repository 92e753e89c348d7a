"""Training and evaluation of a job: what `tf-frame run` does, for Python."""
