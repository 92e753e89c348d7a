"""Converters of images and masks to TFRecords with DeepLab's keys.

`converters`, which entry points name, does not import TensorFlow before a conversion begins.
"""
