"""Converters of images with boxes to TFRecords with the object detection API's keys.

`converters`, which entry points name, does not import TensorFlow before a conversion begins.
"""
