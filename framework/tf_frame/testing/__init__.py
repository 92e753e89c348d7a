"""Helpers for the tests of plugins: toy plugins, training setups, installed packages, ports."""
