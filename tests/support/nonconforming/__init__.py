"""Plugins that each break one rule of their contract, which one check of the suites finds.

Each class has the name of the rule that it breaks. `healthy` has the plugins that they are made of.
"""
