"""Hooks that a run adds by name, with `--hook NAME`."""
