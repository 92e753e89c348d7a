"""Inputs of words: composed digits, rendered words, folders, TFRecords.

The modules that entry points name do not import TensorFlow, so that `--help` answers at once.
"""
