"""Modules that have a side effect when they are imported; each has the plugin `Plugin`."""
