"""Modules of `tools/convert_to_tfrecord.py`: sources of labelled pictures, and their shards."""
