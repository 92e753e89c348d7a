"""Starts the tasks of a job, as local processes or through a scheduler."""
