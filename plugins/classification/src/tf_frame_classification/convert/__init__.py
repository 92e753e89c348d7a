"""Converters of labelled pictures to TFRecords: sources of pictures, and the records made of them.

The shards are written by `tf_frame_vision.convert`. `converters`, which entry points name, does not
import TensorFlow before a conversion begins.
"""
