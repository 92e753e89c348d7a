"""The command `tf-frame legacy`, one module for each sub-command."""
