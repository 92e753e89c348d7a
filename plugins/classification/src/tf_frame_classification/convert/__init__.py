"""Converters of labelled pictures to TFRecords: sources of pictures, and the shards made of them.

`converters`, which entry points name, does not import TensorFlow before a conversion begins.
"""
