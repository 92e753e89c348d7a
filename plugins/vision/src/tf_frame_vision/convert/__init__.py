"""Conversion of pictures to TFRecord shards, for the converters of plugins.

A plugin brings pictures, and `records.Records` that makes an example of each picture;
`conversion.convert` writes the shards. `folders` and `options` do not import TensorFlow; a
converter imports the other modules when a conversion begins.
"""
