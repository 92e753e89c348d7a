"""Starts the tasks of a job: local processes, or a scheduler's."""
