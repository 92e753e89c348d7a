"""The parts of `tools/convert_to_tfrecord.py`."""
