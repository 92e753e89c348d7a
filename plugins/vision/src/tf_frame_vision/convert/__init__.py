"""Conversion of pictures to TFRecord shards, for the converters of plugins.

A plugin brings pictures and a `records.Records`, which makes a record of each; `run.convert` writes
the shards. `folders` does not import TensorFlow; the other modules are imported when a conversion
begins.
"""
